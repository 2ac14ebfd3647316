import Bus
import EventLoop

/// Repeats work until it succeeds. The pauses grow from a quarter of a second to thirty seconds.
struct Retry {
  let clock: any Clock<Duration>

  /// `failed` receives each error, before the pause.
  func run(
    _ body: () async throws(BusError) -> Void, failed: (BusError) -> Void
  ) async {
    var pause = Backoff(from: .milliseconds(250), to: .seconds(30))
    while true {
      do throws(BusError) {
        return try await body()
      } catch {
        failed(error)
      }
      do { try await clock.sleep(for: pause.next()) } catch { return }
    }
  }
}

extension Clock where Duration == Swift.Duration {
  /// Returns whether the work has ended. It continues after the limit.
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
