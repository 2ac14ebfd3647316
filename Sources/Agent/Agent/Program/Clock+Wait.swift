extension Clock where Duration == Swift.Duration {
  /// Waits for the end of some work that may never end, and returns whether it has ended. It continues after the limit.
  @discardableResult
  func wait(atMost limit: Duration, for work: @escaping @Sendable () async -> Void) async -> Bool {
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    Task {
      await work()
      end.yield(true)
    }
    let alarm = Task {
      try await sleep(for: limit)
      end.yield(false)
    }
    defer { alarm.cancel() }
    for await hasEnded in ends { return hasEnded }
    return false
  }
}
