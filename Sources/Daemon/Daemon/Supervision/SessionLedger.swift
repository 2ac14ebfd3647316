import ReaderProtocol

/// The requests of a reader session. Each is answered exactly once, even if the process ends.
struct SessionLedger {
  typealias Instant = SuspendingClock.Instant

  /// The most requests of a session, including the running one.
  static let mostRequests = 16
  /// The most tags that a session may report unless its client restarts polling. A person cannot put down that many
  /// tags in the longest session.
  static let mostTags = 600

  private struct Request {
    let number: UInt64
    let placement: UInt64
    let operation: ReaderOperation
  }

  private let timing: ReaderTiming
  private var requests: [Request] = []
  /// Requests that the daemon answered before the process did. The process may still answer them until it reaches the
  /// next goal.
  private var abandoned: Set<UInt64> = []
  private var tags = 0
  /// Whether the session has reported a tag since its last round ended.
  private var isRoundOpen = false
  /// The restarts of polling that were ordered, minus those that the process has reported. The process may combine
  /// orders, so it may report fewer. This is a count because an order and a report may cross:
  ///
  ///     the daemon orders restart 1, the process performs it
  ///     the daemon orders restart 2, then receives the report of restart 1
  ///     the process performs restart 2 and reports it
  private var orderedRestarts = 0
  /// For the answer of the running request.
  private(set) var deadline: Instant?

  init(_ timing: ReaderTiming) { self.timing = timing }

  /// The placement that the running request is about.
  var operated: UInt64? { requests.first?.placement }

  /// Returns why the daemon refuses the request; nil if the process has to perform it. `placement` is the daemon's
  /// number.
  mutating func add(
    _ operation: ReaderOperation, request: UInt64, placement: UInt64, at now: Instant
  ) -> ReaderOperationResult? {
    guard requests.count < Self.mostRequests else {
      return .failed(.busy, reason: "\(requests.count) operations wait already")
    }
    guard !requests.contains(where: { $0.number == request }), !abandoned.contains(request) else {
      return .failed(.busy, reason: "a request of that number is under way")
    }
    requests.append(Request(number: request, placement: placement, operation: operation))
    if requests.count == 1 { expectResult(at: now) }
    return nil
  }

  /// Answers all requests, because the session has ended.
  mutating func end(_ failure: ReaderOperationFailure, _ reason: String) -> [ReaderSupervision.Action] {
    abandoned.formUnion(requests.map(\.number))
    defer { (requests, deadline, tags, isRoundOpen, orderedRestarts) = ([], nil, 0, false, 0) }
    return requests.map { .report(.performed(request: $0.number, .failed(failure, reason: reason))) }
  }

  /// From here on, the process must not answer requests of a session that has ended.
  mutating func forgetAbandoned() { abandoned = [] }

  /// The session's client restarts polling, so the process finds its tags again.
  mutating func restarts() {
    tags = 0
    orderedRestarts += 1
  }

  /// The process reported a restart of polling. If the daemon ordered none, fails with a text that follows "it".
  mutating func restarted() throws(ReaderLinkError) {
    guard orderedRestarts > 0 else { throw ReaderLinkError("restarted polling unasked") }
    orderedRestarts -= 1
    isRoundOpen = false
  }

  /// If the session reports too many tags, fails with a text that follows "it".
  mutating func countTag() throws(ReaderLinkError) {
    tags += 1
    isRoundOpen = true
    guard tags <= Self.mostTags else { throw ReaderLinkError("reported tags without end") }
  }

  /// The process reported the end of a round. If no tag came before it, fails with a text that follows "it".
  mutating func endRound() throws(ReaderLinkError) {
    guard isRoundOpen else { throw ReaderLinkError("ended a round without a tag") }
    isRoundOpen = false
  }

  /// The process reported the progress of a request. Returns whether the daemon reports it. It ignores requests that it
  /// has answered itself.
  mutating func progresses(_ request: UInt64) throws(ReaderLinkError) -> Bool {
    if requests.first?.number == request { return true }
    guard abandoned.contains(request) else { throw ReaderLinkError("told of an operation that is not under way") }
    return false
  }

  /// The process answered a request. Returns whether the daemon reports it. It ignores requests that it has answered
  /// itself.
  mutating func performed(
    _ request: UInt64, _ result: ReaderOperationResult, at now: Instant
  ) throws(ReaderLinkError) -> Bool {
    guard let first = requests.first, first.number == request else {
      guard abandoned.remove(request) != nil else {
        throw ReaderLinkError("answered a request that it was not given")
      }
      return false
    }
    guard result.isPossible(for: first.operation) else {
      throw ReaderLinkError("answered a request with something else than was asked for")
    }
    requests.removeFirst()
    deadline = nil
    if !requests.isEmpty { expectResult(at: now) }
    return true
  }

  private mutating func expectResult(at now: Instant) { deadline = now + ReaderTiming.operation + timing.breakingOff }
}

extension ReaderOperationResult {
  /// Whether an operation can have this result.
  fileprivate func isPossible(for operation: ReaderOperation) -> Bool {
    switch (self, operation) {
    case (.failed, _), (.status, .query), (.message, .read), (.done, .write), (.done, .lock), (.answer, .transceive):
      true
    default: false
    }
  }
}
