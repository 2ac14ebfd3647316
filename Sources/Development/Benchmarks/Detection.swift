import ReaderSimulator

extension SimulatedReader {
  /// A tag that is not found within this time is reported as not found.
  private static let timeout = Duration.seconds(4)

  /// Waits for the answer that names a tag. Returns when, on the reader's clock, that answer was complete; nil if there
  /// was none in time.
  nonisolated func detection(since placed: Duration, by clock: MachineClock) async throws -> Duration? {
    while clock.now - placed < Self.timeout {
      for record in await commands.reversed() {
        guard let end = record.end, end >= placed else { break }
        if record.foundTargets ?? 0 > 0 { return end }
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    return nil
  }
}
