import Bus
import Names
import ReaderLink

/// All manual reader sessions, and whose turn it is at each reader.
///
/// Pure: events in, actions out.
struct ReaderSessions: Sendable {
  typealias Instant = ReaderSessionQueue.Instant
  typealias End = ReaderSessionQueue.End

  /// A limit is reached; the text says which.
  struct TooMany: Error, Hashable {
    let message: String
  }

  enum Action: Sendable, Hashable {
    case begin(Int, ReaderSessionOptions)
    case release(Int, UInt64)
    case activated(UInt64)
    /// A tag of that number is there.
    case found(UInt64, tag: UInt64)
    /// It is away; the path was its object's.
    case gone(UInt64, tag: ObjectPath)
    /// It is over: the session as it was then, which may be forgotten already.
    case ended(ReaderSession)
    /// Its object goes, and those of its tags have gone.
    case forgotten(UInt64, ObjectPath)
  }

  /// Sessions that wait, of one user and of all.
  static let limitOfUser = 32
  static let limit = 128

  /// Also the last one of each client that is over.
  private(set) var sessions: [UInt64: ReaderSession] = [:]
  private var queues: [Int: ReaderSessionQueue] = [:]
  private var lastID: UInt64 = 0
  /// How long a session may have the reader that gets it from here on.
  var timeLimit: Duration {
    didSet { for reader in queues.keys { queues[reader]?.limit = timeLimit } }
  }

  /// - Parameter timeLimit: how long a session may have the reader.
  init(timeLimit: Duration = ReaderSessionQueue.limit) { self.timeLimit = timeLimit }

  /// When `tick` is due.
  var deadline: Instant? { queues.values.compactMap(\.deadline).min() }

  /// Whether a session has a reader, waits for it, or is about to let go of it.
  func isOccupied(_ reader: Int) -> Bool { queues[reader]?.isOccupied == true }

  /// Whether the reader's process is in a session, and so may have its field on, whatever has become of the session.
  func mayHaveField(_ reader: Int) -> Bool { queues[reader]?.current != nil }

  /// Whether the reader is a session's own.
  func isActive(at reader: Int) -> Bool {
    queues[reader]?.sessions.first.flatMap { sessions[$0] }?.state == .active
  }

  /// The sessions that are not over.
  var open: [ReaderSession] { sessions.values.filter { $0.end == nil }.sorted { $0.id < $1.id } }

  func session(at path: ObjectPath) -> ReaderSession? { sessions.values.first { $0.path == path } }

  /// Takes a session in, at the end of the line.
  ///
  /// - Returns: the session, and what to do.
  /// - Throws: `TooMany`.
  mutating func add(
    _ request: ReaderSessionRequest, client: String, uid: UInt32, pid: UInt32, reader: Int, readerPath: ObjectPath,
    at now: Instant
  ) throws(TooMany) -> (ReaderSession, [Action]) {
    let waiting = open.filter { $0.state == .waiting }
    guard waiting.count(where: { $0.uid == uid }) < Self.limitOfUser else {
      throw TooMany(message: "\(Self.limitOfUser) reader sessions of user \(uid) wait already: try again later")
    }
    guard waiting.count < Self.limit, let path = try? ObjectPath("\(Names.Daemon.readerSessionsPath)/\(lastID + 1)")
    else {
      throw TooMany(message: "\(Self.limit) reader sessions wait already: try again later")
    }
    lastID += 1
    let session = ReaderSession(
      id: lastID, client: client, uid: uid, pid: pid, reader: reader, readerPath: readerPath, path: path,
      request: request)
    sessions[lastID] = session
    return (session, handle(.start(lastID), at: reader, now))
  }

  /// Lets a reader's line decide.
  mutating func handle(_ event: ReaderSessionQueue.Event, at reader: Int, _ now: Instant) -> [Action] {
    var queue = queues[reader] ?? ReaderSessionQueue(limit: timeLimit)
    let actions = queue.handle(event, at: now)
    queues[reader] = queue
    return perform(actions, at: reader)
  }

  mutating func tick(at now: Instant) -> [Action] {
    queues.keys.sorted().flatMap { handle(.tick, at: $0, now) }
  }

  /// Ends a session; harmless where it is over.
  mutating func end(_ id: UInt64, _ reason: End, message: String = "", at now: Instant) -> [Action] {
    guard let session = sessions[id], session.end == nil else { return [] }
    sessions[id]?.errorMessage = message
    return handle(.end(id, reason), at: session.reader, now)
  }

  /// The tags of a session are to be looked for anew.
  ///
  /// - Returns: when; nil where it is not active.
  mutating func restart(_ id: UInt64, at now: Instant) -> RestartPacing.Verdict? {
    guard sessions[id]?.state == .active else { return nil }
    return sessions[id]?.restarts.ask(at: now)
  }

  /// What was put off is to be done.
  ///
  /// - Returns: at which reader; nil where the session is not active any more.
  mutating func restartIsDue(_ id: UInt64, at now: Instant) -> Int? {
    sessions[id]?.restarts.isDue(at: now)
    return sessions[id].flatMap { $0.state == .active ? $0.reader : nil }
  }

  /// The client has left the bus.
  mutating func leave(_ client: String, at now: Instant) -> [Action] {
    var actions: [Action] = []
    for session in sessions.values.sorted(by: { $0.id < $1.id }) where session.client == client {
      actions += end(session.id, .clientGone, at: now)
      actions += forget(session.id)
    }
    return actions
  }

  /// The reader is gone for good.
  mutating func removeReader(_ reader: Int, at now: Instant) -> [Action] {
    guard let queue = queues[reader] else { return [] }
    // Nobody confirms anything any more.
    var actions = queue.sessions.flatMap { end($0, .readerLost, at: now) }
    actions += handle(.lost, at: reader, now)
    queues[reader] = nil
    return actions
  }

  /// The session has found a tag.
  mutating func found(_ tag: SessionTag, by id: UInt64) -> [Action] {
    guard sessions[id]?.state == .active, let number = sessions[id]?.add(tag) else { return [] }
    return [.found(id, tag: number)]
  }

  /// A tag of the session is away.
  mutating func removed(_ placement: UInt64, from id: UInt64) -> [Action] {
    guard let number = sessions[id]?.number(of: placement),
      let tag = sessions[id]?.tags.removeValue(forKey: number)
    else { return [] }
    return [.gone(id, tag: tag.path)]
  }

  mutating func setMessage(_ message: String, of id: UInt64) { sessions[id]?.message = message }

  mutating func setAgent(_ agent: Agent?, of id: UInt64) { sessions[id]?.agent = agent }

  /// Checks a command for a tag.
  ///
  /// - Throws: why it is not sent.
  mutating func check(_ command: [UInt8], _ id: UInt64, tag: UInt64) throws(TransceivePolicy.Refusal) {
    guard var policy = sessions[id]?.tags[tag]?.policy else { throw .notPossible("the tag is away") }
    defer { sessions[id]?.tags[tag]?.policy = policy }
    try policy.check(command)
  }

  /// The reader is told to do something with a tag.
  ///
  /// - Returns: which turn among the session's tags that is.
  mutating func call(_ id: UInt64, tag: UInt64) -> UInt64 {
    sessions[id]?.call(tag)
    return sessions[id]?.turns ?? 0
  }

  /// Takes in that something could not be done with a tag.
  mutating func failed(_ failure: ReaderOperationFailure, _ id: UInt64, tag: UInt64) {
    switch failure {
    // It is there, and has lost its power for the answer to that.
    case .timeout: sessions[id]?.tags[tag]?.policy.reselected()
    // Nothing was done with it, or nothing will be.
    case .busy, .tagLost, .deviceLost, .sessionEnded: return
    // Where the tag has heard of it at all, it is selected anew before it is sent the next.
    case .notSupported, .readOnly, .tooLong, .refused, .notAsWritten, .cannotLock, .empty:
      sessions[id]?.tags[tag]?.policy.doubtSelection()
    }
  }

  /// Takes in what a tag has answered; nil where it has not. It was asked in `turn`: in a later one it was selected anew, or is going
  /// to be.
  mutating func learn(_ answer: [UInt8]?, to command: [UInt8], _ id: UInt64, tag: UInt64, turn: UInt64) {
    sessions[id]?.tags[tag]?.policy.learn(answer, to: command)
    if sessions[id]?.turns != turn { sessions[id]?.tags[tag]?.policy.doubtSelection() }
  }

  private mutating func perform(_ actions: [ReaderSessionQueue.Action], at reader: Int) -> [Action] {
    var result: [Action] = []
    for action in actions {
      switch action {
      case .begin(let id): if let session = sessions[id] { result.append(.begin(reader, session.options)) }
      case .release(let id): result.append(.release(reader, id))
      case .activated(let id, let until):
        sessions[id]?.state = .active
        sessions[id]?.deadline = until
        result.append(.activated(id))
      case .ended(let id, let reason): result += finish(id, reason)
      }
    }
    return result
  }

  private mutating func finish(_ id: UInt64, _ reason: End) -> [Action] {
    guard let session = sessions[id] else { return [] }
    sessions[id]?.state = .ended
    sessions[id]?.end = reason
    sessions[id]?.tags = [:]
    var actions = session.tags.sorted { $0.key < $1.key }.map { Action.gone(id, tag: $0.value.path) }
    if let over = sessions[id] { actions.append(.ended(over)) }
    // One that is over stays until the next one of the same client is.
    let before = sessions.values.filter { $0.client == session.client && $0.end != nil && $0.id != id }
    for other in before { actions += forget(other.id) }
    return actions
  }

  private mutating func forget(_ id: UInt64) -> [Action] {
    guard let session = sessions.removeValue(forKey: id) else { return [] }
    return [.forgotten(id, session.path)]
  }
}
