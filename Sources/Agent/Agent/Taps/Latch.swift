/// Opens once, for all waiting tasks.
struct Latch: Sendable {
  private let opening: AsyncStream<Never>.Continuation
  private let wait: Task<Void, Never>

  init() {
    let (pending, opening) = AsyncStream.makeStream(of: Never.self)
    self.opening = opening
    wait = Task { for await _ in pending {} }
  }

  func open() { opening.finish() }

  /// Returns once it is open.
  func opened() async { await wait.value }
}
