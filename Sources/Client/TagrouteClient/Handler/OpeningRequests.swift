import Bus
import EventLoop

/// The openings that the app has not taken yet, in the order of their arrival.
final class OpeningRequests: Sendable {
  /// An opening with a waiting caller.
  struct Request: Sendable {
    let number: UInt64
    let opening: TagOpening
  }

  /// The most openings that may wait, because each may hold a message of 1 MiB.
  private static let limit = 16

  /// The openings. The stream ends after ``end()``, or when the task that reads it ends.
  let all: AsyncStream<Request>
  private let request: AsyncStream<Request>.Continuation
  private let waiting: Waiting

  init(on loop: EventLoop) {
    (all, request) = AsyncStream.makeStream(of: Request.self)
    waiting = Waiting(on: loop)
  }

  /// Waits until the app has taken an opening, after all earlier ones. Throws the app's error, or an error if the app
  /// takes no more openings.
  func take(_ opening: TagOpening) async throws(BusError) {
    try await waiting.take(opening, by: request).get()
  }

  func answer(_ request: Request, _ result: Result<Void, BusError>) async {
    await waiting.answer(request.number, result)
  }

  /// Takes no more openings, and fails all waiting callers.
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
