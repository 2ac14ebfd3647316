import Bus
import EventLoop

/// What the app was opened with and has not taken yet, in the order in which it came.
final class OpeningRequests: Sendable {
  /// One opening that somebody waits for.
  struct Request: Sendable {
    let number: UInt64
    let opening: TagOpening
  }

  /// More than these do not wait: each may hold a message of 1 MiB.
  private static let limit = 16

  /// The openings; ends with ``end()`` and with the task that reads it.
  let all: AsyncStream<Request>
  private let request: AsyncStream<Request>.Continuation
  private let waiting: Waiting

  init(on loop: EventLoop) {
    (all, request) = AsyncStream.makeStream(of: Request.self)
    waiting = Waiting(on: loop)
  }

  /// Has the app take an opening, after all that came before.
  ///
  /// - Throws: what the app has answered, or that it does not take any more.
  func take(_ opening: TagOpening) async throws(BusError) {
    try await waiting.take(opening, by: request).get()
  }

  /// Tells whoever waits.
  func answer(_ request: Request, _ result: Result<Void, BusError>) async {
    await waiting.answer(request.number, result)
  }

  /// Takes no more, and tells all who wait so.
  func end() {
    request.finish()
    Task { await waiting.end() }
  }

  private actor Waiting {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private nonisolated let loop: EventLoop
    private var callers: [UInt64: CheckedContinuation<Result<Void, BusError>, Never>] = [:]
    private var lastNumber: UInt64 = 0
    private var hasEnded = false

    init(on loop: EventLoop) { self.loop = loop }

    func take(_ opening: TagOpening, by request: AsyncStream<Request>.Continuation) async -> Result<Void, BusError> {
      guard !hasEnded else { return .failure(.failed("the app is about to end")) }
      guard callers.count < OpeningRequests.limit else {
        return .failure(BusError(name: BusError.Name.limitsExceeded, message: "the app has not taken what came before"))
      }
      lastNumber += 1
      let number = lastNumber
      return await withCheckedContinuation { caller in
        callers[number] = caller
        request.yield(Request(number: number, opening: opening))
      }
    }

    func answer(_ number: UInt64, _ result: Result<Void, BusError>) {
      callers.removeValue(forKey: number)?.resume(returning: result)
    }

    func end() {
      hasEnded = true
      for caller in callers.values { caller.resume(returning: .failure(.failed("the app has ended"))) }
      callers = [:]
    }
  }
}
