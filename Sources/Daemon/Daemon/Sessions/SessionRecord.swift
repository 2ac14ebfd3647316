import Bus
import Names
import ReaderProtocol

/// One reader session, and the tags that it has found.
struct SessionRecord: Sendable, Hashable {
  typealias Instant = SuspendingClock.Instant

  enum State: Sendable, Hashable {
    /// Other sessions come first, or the reader cannot be used. Can transition to: `.starting`, `.ended`.
    case waiting
    /// The reader process was asked to begin the session and has not confirmed it. Can transition to: `.active`,
    /// `.ended`.
    case starting
    /// The session has the reader, at most until this time. Can transition to: `.ended`.
    case active(until: Instant)
    /// The session is over; nil if its client has left the bus. Final.
    case ended(Names.SessionEnd?)
  }

  struct Tag: Sendable, Hashable {
    let tag: SessionTag
    let path: ObjectPath
    var policy: TransceivePolicy

    var placement: UInt64 { tag.placement.number }
  }

  /// The minimum time between two polling restarts. A client could otherwise keep its reader busy with restarts alone.
  static let restartInterval = Duration.milliseconds(200)

  let id: UInt64
  /// The session exists for this client only.
  let client: String
  let uid: UInt32
  /// For display; 0 if it is unknown.
  let pid: UInt32
  let reader: Int
  let readerPath: ObjectPath
  let path: ObjectPath
  let request: ReaderSessionRequest
  /// With the limits of the last polling restart; nil before the first one.
  private(set) var limitedRequest: ReaderSessionRequest?
  var message: String
  var state = State.waiting
  /// From `Invalidate`.
  var errorMessage = ""
  /// By their numbers in the session.
  var tags: [UInt64: Tag] = [:]
  private(set) var lastTag: UInt64 = 0
  /// The tag of the last operation.
  private(set) var selectedTag: UInt64?
  /// How often `selectedTag` has changed.
  private(set) var turns: UInt64 = 0
  /// May be in the future.
  private(set) var lastRestart: Instant?
  /// The agent that shows the session.
  var agent: Agent?

  var isOpen: Bool { if case .ended = state { false } else { true } }

  var isActive: Bool { deadline != nil }

  /// Nil unless the session is active.
  var deadline: Instant? { if case .active(let until) = state { until } else { nil } }

  /// Nil if the session is not over, or if its client has left the bus.
  var end: Names.SessionEnd? { if case .ended(let reason) = state { reason } else { nil } }

  /// As on the bus.
  var stateName: String {
    switch state {
    case .waiting, .starting: "waiting"
    case .active: "active"
    case .ended: "ended"
    }
  }

  /// The options for the reader process. It selects every application that it knows, so it gets none if the client
  /// selects them itself.
  var options: TagSessionOptions {
    let request = limitedRequest ?? self.request
    return TagSessionOptions(
      number: id, technologies: request.technologies,
      applicationIdentifiers: request.selectsApplication ? request.applications : [],
      systemCodes: request.systemCodes, reportsUndeclaredCards: request.reportsUndeclaredCards)
  }

  /// For the user; may be empty.
  var endMessage: String {
    switch end {
    case nil, .firstRead: ""
    case .invalidated: errorMessage
    case .cancelled: "it was cancelled"
    case .timedOut: "the time limit was reached"
    case .readerLost: "the reader was removed, has failed, or was given to another program"
    case .sessionInactive: "your session is not the active one, or is locked"
    case .sleeping: "the computer is going to sleep"
    case .daemonStopping: "tagrouted is stopping"
    }
  }

  // MARK: Tags

  /// Returns the tag's number in the session.
  mutating func add(_ tag: SessionTag) -> UInt64? {
    lastTag += 1
    guard let path = try? path.appending("tags").appending("\(lastTag)") else { return nil }
    let policy = TransceivePolicy(
      kind: tag.kind, mayWrite: request.mayWrite, applications: request.applications, systemCodes: request.systemCodes,
      isApplicationSelected: tag.initialApplication != nil,
      allowsMasterFile: !request.selectsApplication || CardApplications.includeDocument(request.applications))
    tags[lastTag] = Tag(tag: tag, path: path, policy: policy)
    return lastTag
  }

  mutating func remove(_ placement: UInt64) -> Tag? {
    tags.first { $0.value.placement == placement }.flatMap { tags.removeValue(forKey: $0.key) }
  }

  mutating func check(_ command: [UInt8], tag: UInt64) throws(BusError) {
    guard var policy = tags[tag]?.policy else {
      throw BusError(name: Names.Errors.notSupported, message: "the tag was removed")
    }
    defer { tags[tag]?.policy = policy }
    try policy.check(command)
  }

  /// Records that the reader process gets an operation for a tag. It selects the tag again if the last operation was
  /// for another one. Returns the number of the turn, for `learn`.
  @discardableResult
  mutating func select(_ tag: UInt64) -> UInt64 {
    guard selectedTag != tag else { return turns }
    selectedTag = tag
    turns += 1
    for other in tags.keys where other != tag { tags[other]?.policy.doubtSelection() }
    return turns
  }

  mutating func failed(_ failure: ReaderOperationFailure, tag: UInt64) {
    switch failure {
    // The reader process switches the field off and on after a timeout.
    case .timeout: tags[tag]?.policy.reselected()
    // The tag has not received a command, or is gone.
    case .busy, .tagLost, .deviceLost, .sessionEnded: return
    // The reader process may select the tag again before the next operation.
    case .notSupported, .readOnly, .tooLong, .refused, .notAsWritten, .cannotLock, .empty, .notFormatted:
      tags[tag]?.policy.doubtSelection()
    }
  }

  /// Nil is no answer. In a later turn than `turn` the tag is selected again.
  mutating func learn(_ answer: [UInt8]?, to command: [UInt8], tag: UInt64, turn: UInt64) {
    tags[tag]?.policy.learn(answer, to: command)
    if turns != turn { tags[tag]?.policy.doubtSelection() }
  }

  // MARK: Polling

  /// Plans a polling restart with the options of `RestartPollingWithOptions`. Returns the delay until it; nil if a
  /// planned restart serves this request too. That restart has the options of its last request.
  ///
  /// Throws `NotPossible` if the session is not active, and the errors of `ReaderSessionRequest.limited`.
  mutating func planRestart(_ options: [String: Value] = [:], at now: Instant) throws(BusError) -> Duration? {
    guard isActive else { throw .notPossible("the session is not active") }
    limitedRequest = try request.limited(by: options)
    if let lastRestart, lastRestart > now { return nil }
    let next = lastRestart.map { max(now, $0 + Self.restartInterval) } ?? now
    lastRestart = next
    return now.duration(to: next)
  }
}

extension SessionTag {
  /// The raw commands that the tag understands.
  var kind: TransceivePolicy.Kind {
    switch placement.technology {
    case .type2: return .type2
    case .type3: return .felica(idm: idm, systemCode: systemCode)
    case .type4A:
      switch MIFAREProduct(historicalBytes: historicalBytes) {
      case .desfire: return .desfire
      case .plus: return .mifarePlus
      case nil: return .isoDEP
      }
    case .type4B: return .isoDEP
    case .type5: return .type5(uid: placement.uid)
    case .mifareClassic: return .none("MIFARE Classic accepts no raw commands: use ReadNDEF and WriteNDEF")
    case .type1, .peer: return .none("\(placement.technology) accepts no raw commands: use ReadNDEF and WriteNDEF")
    }
  }
}
