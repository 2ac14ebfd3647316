extension Clock where Duration == Swift.Duration {
  /// Waits for the end of some work that may never end.
  ///
  /// - Parameters:
  ///   - limit: how long to wait.
  ///   - work: what to wait for. It continues after the limit.
  /// - Returns: whether it has ended.
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
