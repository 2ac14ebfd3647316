/// Many measurements of one duration.
struct Distribution {
  private let sorted: [Duration]

  init(_ durations: [Duration]) { sorted = durations.sorted() }

  /// The smallest measured value that at least `percent` of all values do not exceed (nearest rank).
  func percentile(_ percent: Int) -> Duration {
    guard !sorted.isEmpty else { return .zero }
    let rank = (percent * sorted.count + 99) / 100
    return sorted[min(max(rank, 1), sorted.count) - 1]
  }

  /// One line: the name, and the distribution in milliseconds or microseconds.
  func line(_ name: String, of things: String = "taps", inMicroseconds: Bool = false) -> String {
    let (unit, symbol) = inMicroseconds ? (Duration.microseconds(1), "µs") : (Duration.milliseconds(1), "ms")
    let columns = [("min", 0), ("median", 50), ("90 %", 90), ("99 %", 99), ("worst", 100)].map { title, percent in
      "\(title) \(Self.tenths(percentile(percent) / unit))"
    }
    return "\(name): \(columns.joined(separator: ", ")) \(symbol) (\(sorted.count) \(things))"
  }

  static func milliseconds(_ duration: Duration) -> String { tenths(duration / .milliseconds(1)) }

  /// A number of at least zero with one decimal.
  static func tenths(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
