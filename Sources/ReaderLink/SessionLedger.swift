/// The reader session of one reader: what its process was told, what it owes an answer to, and whether what it says of it can be true.
///
/// A session that cannot go on is over for the daemon at once. Its process may not know yet, and goes on speaking of it until it has
/// answered that it is ended: that is neither believed nor held against it.
struct SessionLedger {
  typealias Instant = SuspendingClock.Instant

  /// Requests that wait for their turn in the process, the one that is under way counted.
  static let mostRequests = 16
  /// Sessions that a process was told to end and has not answered for.
  static let mostAbandoned = 16
  /// Tags that one session reports unless it is told to look anew: faster than a person can lay them down for as long as one may last.
  static let mostTags = 600

  private enum Phase { case beginning, running, ending }

  private struct Request {
    let number: UInt64
    let placement: UInt64
    let operation: ReaderOperation
  }

  private struct Session {
    let number: UInt64
    var phase = Phase.beginning
    var requests: [Request] = []
    var tags = 0
  }

  private let timing: ReaderTiming
  private var current: Session?
  /// The requests that each session owed an answer to when it was over.
  private var abandoned: [UInt64: Set<UInt64>] = [:]
  /// By when the present session has to have begun or ended, or the operation under way to be done.
  private var currentDeadline: Instant?
  /// By when those that are over have to be answered for.
  private var abandonedDeadline: Instant?

  init(_ timing: ReaderTiming) { self.timing = timing }

  /// By when something has to have been answered.
  var deadline: Instant? {
    guard let currentDeadline, let abandonedDeadline else { return currentDeadline ?? abandonedDeadline }
    return min(currentDeadline, abandonedDeadline)
  }

  /// Whether the process may have a session: then it looks for no tags to announce, and the field may be on.
  var isBusy: Bool { current != nil || !abandoned.isEmpty }

  /// The placement that something is being done with.
  var operated: UInt64? { current?.requests.first?.placement }

  /// What the process has not done, where the deadline has passed.
  var omission: String {
    switch current?.phase {
    case .beginning: "it was told to begin a reader session and did not"
    case .running: "an operation on a tag took too long"
    case .ending, nil: "it was told to end a reader session and did not"
    }
  }

  // MARK: Orders

  /// - Parameters:
  ///   - options: its number, and which tags it is told of.
  ///   - obstacle: why no session can begin now, where that is so.
  ///   - now: the time.
  /// - Returns: what is to be done.
  mutating func begin(
    _ options: ReaderSessionOptions, unless obstacle: String?, at now: Instant
  ) -> [ReaderSupervision.Action] {
    let isFull = current != nil || abandoned.count >= Self.mostAbandoned
    if let reason = obstacle ?? (isFull ? "another reader session is under way" : nil) {
      return [.report(.sessionLost(options.number, reason: reason))]
    }
    current = Session(number: options.number)
    currentDeadline = now + timing.breakingOff
    return [.send(.beginSession(options))]
  }

  mutating func end(_ number: UInt64, at now: Instant) -> [ReaderSupervision.Action] {
    current?.number == number ? end(at: now) : []
  }

  /// Ends the session, if there is one. The process is told that once for each, and answers as often.
  mutating func end(at now: Instant) -> [ReaderSupervision.Action] {
    guard let session = current, session.phase != .ending else { return [] }
    current?.phase = .ending
    currentDeadline = now + timing.breakingOff
    return [.send(.endSession(session.number))]
  }

  mutating func restartPolling(_ number: UInt64) -> [ReaderSupervision.Action] {
    guard let current, current.number == number, current.phase != .ending else { return [] }
    // What lies there is found again because it was told so, which is not held against it.
    self.current?.tags = 0
    return [.send(.restartPolling(number))]
  }

  /// - Parameters:
  ///   - operation: what to do.
  ///   - request: its number.
  ///   - placement: the tag, as the daemon knows it.
  ///   - own: the same as the process knows it; nil where it does not.
  ///   - session: the session.
  ///   - now: the time.
  /// - Returns: what is to be done.
  mutating func perform(
    _ operation: ReaderOperation, request: UInt64, placement: UInt64, own: UInt64?, session: UInt64, at now: Instant
  ) -> [ReaderSupervision.Action] {
    func refuse(_ failure: ReaderOperationFailure, _ reason: String) -> [ReaderSupervision.Action] {
      [.report(.performed(request: request, .failed(failure, reason: reason)))]
    }
    guard let current, current.number == session, current.phase != .ending else {
      return refuse(.sessionEnded, "the reader session has ended")
    }
    guard let own else { return refuse(.tagLost, "the tag is away") }
    guard current.requests.count < Self.mostRequests else {
      return refuse(.busy, "\(current.requests.count) operations wait already")
    }
    guard !current.requests.contains(where: { $0.number == request }) else {
      return refuse(.busy, "a request of that number is under way")
    }
    if current.requests.isEmpty { expectResult(at: now) }
    self.current?.requests.append(Request(number: request, placement: placement, operation: operation))
    return [.send(.perform(session: session, request: request, placement: own, operation))]
  }

  private mutating func expectResult(at now: Instant) {
    guard current?.phase == .running || current?.phase == .beginning else { return }
    currentDeadline = now + ReaderTiming.operation + timing.breakingOff
  }

  // MARK: What becomes of it

  /// The device cannot be used any more, or the process is of no use: the session cannot go on.
  ///
  /// - Parameters:
  ///   - reason: why.
  ///   - isProcessGone: whether nothing more is to be heard of the session.
  ///   - now: the time.
  /// - Returns: what is to be done.
  mutating func lose(_ reason: String, isProcessGone: Bool, at now: Instant) -> [ReaderSupervision.Action] {
    if isProcessGone {
      abandoned = [:]
      abandonedDeadline = nil
    }
    guard let session = current else { return [] }
    current = nil
    currentDeadline = nil
    var actions = fail(session.requests, .deviceLost, reason)
    if !isProcessGone {
      abandoned[session.number] = Set(session.requests.map(\.number))
      abandonedDeadline = now + timing.breakingOff
      if session.phase != .ending { actions.append(.send(.endSession(session.number))) }
    }
    return actions + [.report(.sessionLost(session.number, reason: reason))]
  }

  private func fail(
    _ requests: [Request], _ failure: ReaderOperationFailure, _ reason: String
  ) -> [ReaderSupervision.Action] {
    requests.map { .report(.performed(request: $0.number, .failed(failure, reason: reason))) }
  }

  // MARK: What the process says

  /// Takes in what a process says of a session.
  ///
  /// - Parameters:
  ///   - message: one of a session; anything else is left out.
  ///   - event: what it means for the daemon, where it names a tag.
  ///   - now: the time.
  /// - Returns: what is to be reported.
  /// - Throws: `ReaderLinkError`, in words that follow "it", where it cannot be true.
  mutating func handle(
    _ message: ReaderMessage, as event: ReaderProcessEvent? = nil, at now: Instant
  ) throws(ReaderLinkError) -> [ReaderSupervision.Action] {
    switch message {
    case .sessionBegan(let number):
      guard try isCurrent(number) else { return [] }
      guard current?.phase == .beginning else {
        if current?.phase == .ending { return [] }
        throw ReaderLinkError("began a reader session twice")
      }
      current?.phase = .running
      currentDeadline = nil
      if current?.requests.isEmpty == false { expectResult(at: now) }
      return [.report(.sessionBegan(number))]
    case .sessionEnded(let number): return try ended(number)
    case .sessionTag(let number, _), .sessionTagRemoved(let number, _):
      guard try isCurrent(number) else { return [] }
      guard current?.phase != .beginning else {
        throw ReaderLinkError("spoke of a tag before the reader session began")
      }
      guard current?.phase == .running, let event else { return [] }
      current?.tags += 1
      guard current?.tags ?? 0 <= 2 * Self.mostTags else { throw ReaderLinkError("reported tags without end") }
      return [.report(event)]
    case .performed(let request, let result): return try performed(request, result, at: now)
    case .progress(let request, let bytes):
      if current?.requests.first?.number == request {
        return current?.phase == .running ? [.report(.progress(request: request, bytes: bytes))] : []
      }
      guard abandoned.values.contains(where: { $0.contains(request) }) else {
        throw ReaderLinkError("told of an operation that is not under way")
      }
      return []
    default: return []
    }
  }

  /// Whether the session is the present one; one that is over counts no more.
  private func isCurrent(_ number: UInt64) throws(ReaderLinkError) -> Bool {
    if current?.number == number { return true }
    guard abandoned[number] != nil else { throw ReaderLinkError("spoke of a reader session that is none") }
    return false
  }

  private mutating func ended(_ number: UInt64) throws(ReaderLinkError) -> [ReaderSupervision.Action] {
    guard try isCurrent(number) else {
      abandoned[number] = nil
      if abandoned.isEmpty { abandonedDeadline = nil }
      return []
    }
    guard let session = current, session.phase == .ending else {
      throw ReaderLinkError("ended a reader session that it was to go on with")
    }
    current = nil
    currentDeadline = nil
    return fail(session.requests, .sessionEnded, "the reader session has ended") + [.report(.sessionEnded(number))]
  }

  private mutating func performed(
    _ request: UInt64, _ result: ReaderOperationResult, at now: Instant
  ) throws(ReaderLinkError) -> [ReaderSupervision.Action] {
    guard let first = current?.requests.first, first.number == request else {
      guard let session = abandoned.first(where: { $0.value.contains(request) })?.key else {
        throw ReaderLinkError("answered a request that it was not given")
      }
      abandoned[session]?.remove(request)
      return []
    }
    guard result.isPossible(for: first.operation) else {
      throw ReaderLinkError("answered a request with something else than was asked for")
    }
    current?.requests.removeFirst()
    if current?.phase != .ending {
      currentDeadline = nil
      if current?.requests.isEmpty == false { expectResult(at: now) }
    }
    return [.report(.performed(request: request, result))]
  }
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
