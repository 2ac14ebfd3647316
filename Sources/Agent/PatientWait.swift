/// Waits for something that may never end, but not for ever.
struct PatientWait {
  let clock: any Clock<Duration>

  /// - Parameters:
  ///   - limit: how long it waits.
  ///   - work: what is waited for; it goes on where it takes longer.
  /// - Returns: whether it has ended.
  func run(atMost limit: Duration, _ work: @escaping @Sendable () async -> Void) async -> Bool {
    let (endings, ending) = AsyncStream.makeStream(of: Bool.self)
    Task {
      await work()
      ending.yield(true)
    }
    let alarm = Task { [clock] in
      try await clock.sleep(for: limit)
      ending.yield(false)
    }
    defer { alarm.cancel() }
    for await hasEnded in endings { return hasEnded }
    return false
  }
}
