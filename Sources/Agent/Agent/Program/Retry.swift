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
