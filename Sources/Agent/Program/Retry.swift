import Bus

/// Repeats work until it succeeds. The pauses grow from a quarter of a second to thirty seconds.
struct Retry {
  let clock: any Clock<Duration>

  /// `failed` receives each error, before the pause.
  func run(
    _ body: () async throws(BusError) -> Void, failed: (BusError) -> Void
  ) async {
    var delay = Duration.milliseconds(250)
    while true {
      do throws(BusError) {
        return try await body()
      } catch {
        failed(error)
      }
      do { try await clock.sleep(for: delay) } catch { return }
      delay = min(delay * 2, .seconds(30))
    }
  }
}
