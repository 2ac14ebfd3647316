/// How long to wait before a device is looked for again: not at all the first time, since a command that went wrong on the
/// wire should cost nobody anything, and never so long that a person who plugs it in would notice.
struct Backoff {
  static let pauses: [Duration] = [0, 100, 200, 400, 800, 1500].map { .milliseconds($0) }

  private var count = 0

  mutating func next() -> Duration {
    defer { count += 1 }
    return Self.pauses[min(count, Self.pauses.count - 1)]
  }

  mutating func reset() { count = 0 }
}
