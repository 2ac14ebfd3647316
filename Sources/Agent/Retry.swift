import Bus

/// Does something again until it ends without an error, with pauses that grow from a quarter of a second to thirty.
struct Retry {
  let clock: any Clock<Duration>

  /// - Parameters:
  ///   - body: what to do; the pauses start anew only with another call of this.
  ///   - failed: is told of each error before the pause.
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
