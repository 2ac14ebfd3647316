/// The requests of a reader session: each is answered once, whatever becomes of the process.
struct SessionLedger {
  typealias Instant = SuspendingClock.Instant

  /// Requests that wait for their turn in the process, the one that is under way counted.
  static let mostRequests = 16
  /// Tags that one session reports unless it is told to look again: faster than a person can lay them down for as
  /// long as one may last.
  static let mostTags = 600

  private struct Request {
    let number: UInt64
    let placement: UInt64
    let operation: ReaderOperation
  }

  private let timing: ReaderTiming
  private var requests: [Request] = []
  /// Requests that were answered here before the process answered them. It may still do so until it has reached the
  /// next goal.
  private var abandoned: Set<UInt64> = []
  private var tags = 0
  /// When the process must have done what it was asked.
  private(set) var deadline: Instant?

  init(_ timing: ReaderTiming) { self.timing = timing }

  /// The placement that something is being done with.
  var operated: UInt64? { requests.first?.placement }

  /// - Parameters:
  ///   - operation: what to do.
  ///   - request: its number.
  ///   - placement: the tag, as the daemon knows it.
  ///   - now: the time.
  /// - Returns: why it cannot be done; nil if the process is to do it.
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

  /// Answers all requests, since the session has ended.
  mutating func end(_ failure: ReaderOperationFailure, _ reason: String) -> [ReaderSupervision.Action] {
    abandoned.formUnion(requests.map(\.number))
    defer { (requests, deadline, tags) = ([], nil, 0) }
    return requests.map { .report(.performed(request: $0.number, .failed(failure, reason: reason))) }
  }

  /// Nothing more is to come of a session that has ended.
  mutating func forgetAbandoned() { abandoned = [] }

  /// The session looks for its tags again: what is found then is found because of that.
  mutating func restarts() { tags = 0 }

  /// - Throws: `ReaderLinkError`, in words that follow "it", if it reports more than there can be.
  mutating func countTag() throws(ReaderLinkError) {
    tags += 1
    guard tags <= Self.mostTags else { throw ReaderLinkError("reported tags without end") }
  }

  /// The process tells how far a request is.
  ///
  /// - Returns: whether that counts.
  mutating func progresses(_ request: UInt64) throws(ReaderLinkError) -> Bool {
    if requests.first?.number == request { return true }
    guard abandoned.contains(request) else { throw ReaderLinkError("told of an operation that is not under way") }
    return false
  }

  /// The process has answered a request.
  ///
  /// - Returns: whether that counts.
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
  /// Whether an operation can come to this.
  fileprivate func isPossible(for operation: ReaderOperation) -> Bool {
    switch (self, operation) {
    case (.failed, _), (.status, .query), (.message, .read), (.done, .write), (.done, .lock), (.answer, .transceive):
      true
    default: false
    }
  }
}
