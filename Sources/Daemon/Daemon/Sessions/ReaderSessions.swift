import Bus
import Names
import ReaderProtocol

/// All reader sessions, and which one has each reader: first in, first out.
///
/// Pure: events in, actions out. The reader process begins the next session only after it has confirmed the end of the
/// previous one.
struct ReaderSessions: Sendable, Hashable {
  typealias Instant = SuspendingClock.Instant

  /// What the process of a reader reports.
  enum Event: Sendable, Hashable {
    case began(UInt64)
    case ended(UInt64)
    /// The device or the process has failed, and the process no longer has a session.
    case lost
    case ready(Bool)
    /// Another program has the device, or has returned it.
    case lent(Bool)
  }

  enum Action: Sendable, Hashable {
    case begin(Int, TagSessionOptions)
    case release(Int, UInt64)
    case activated(UInt64)
    case found(UInt64, tag: UInt64)
    /// The tag with this object was removed from the session.
    case gone(UInt64, tag: ObjectPath)
    /// The session has found all tags that lie there together.
    case roundEnded(UInt64)
    case pollingRestarted(UInt64)
    /// The session is over. This is its last state, because `sessions` may no longer contain it.
    case ended(SessionRecord)
    case forgotten(ObjectPath)
  }

  private enum DeviceState: Sendable, Hashable {
    /// It is absent, has failed, or has not been opened yet. At the deadline the waiting sessions end; nil if no
    /// session waits. Can transition to: `.ready`, `.lent`.
    case absent(deadline: Instant?)
    /// Its process can begin a session. Can transition to: `.absent`, `.lent`.
    case ready
    /// Another program has it. Sessions wait without a deadline. Can transition to: `.absent`, because its process
    /// opens it again first.
    case lent
  }

  private struct Reader: Sendable, Hashable {
    var device = DeviceState.absent(deadline: nil)
    /// The session that the process was asked to begin and has not ended yet. That session may be over for its client.
    var occupant: UInt64?
  }

  /// Of waiting sessions.
  static let limitOfUser = 32
  /// Of waiting sessions of all users.
  static let limit = 128
  static let defaultTimeLimit = Duration.seconds(60)
  /// How long sessions wait for a reader that is absent.
  static let absence = Duration.seconds(10)

  /// The open sessions, and the last ended session of each client.
  private(set) var sessions: [UInt64: SessionRecord] = [:]
  private var readers: [Int: Reader] = [:]
  private var lastID: UInt64 = 0
  /// How long a session may have its reader. A change applies to sessions that begin later.
  var timeLimit: Duration

  init(timeLimit: Duration = Self.defaultTimeLimit) { self.timeLimit = timeLimit }

  subscript(_ id: UInt64) -> SessionRecord? {
    get { sessions[id] }
    set { sessions[id] = newValue }
  }

  /// When `tick` is due.
  var deadline: Instant? {
    let absences = readers.values.compactMap { if case .absent(let deadline) = $0.device { deadline } else { nil } }
    return (sessions.values.compactMap(\.deadline) + absences).min()
  }

  /// A session has the reader, waits for it, or has not released it yet.
  func isOccupied(_ reader: Int) -> Bool { mayHaveField(reader) || open.contains { $0.reader == reader } }

  /// The session that the process of a reader begins, has, or has not ended yet.
  func occupant(of reader: Int) -> UInt64? { readers[reader]?.occupant }

  /// Whether the process is in a session, so that the field may be on. The session may be over for its client.
  func mayHaveField(_ reader: Int) -> Bool { occupant(of: reader) != nil }

  func isActive(at reader: Int) -> Bool { readers[reader]?.occupant.flatMap { sessions[$0] }?.isActive == true }

  /// Oldest first.
  var open: [SessionRecord] { sessions.values.filter(\.isOpen).sorted { $0.id < $1.id } }

  func session(at path: ObjectPath) -> SessionRecord? { sessions.values.first { $0.path == path } }

  /// The session waits for its reader. Throws `TooMany`.
  mutating func add(
    _ request: ReaderSessionRequest, client: String, uid: UInt32, pid: UInt32, reader: Int, readerPath: ObjectPath,
    at now: Instant
  ) throws(BusError) -> (SessionRecord, [Action]) {
    let waiting = open.filter { !$0.isActive }
    guard waiting.count(where: { $0.uid == uid }) < Self.limitOfUser else {
      throw .tooMany("user \(uid) already has \(Self.limitOfUser) waiting reader sessions: try again later")
    }
    guard waiting.count < Self.limit, let path = try? ObjectPath("\(Names.Daemon.readerSessionsPath)/\(lastID + 1)")
    else { throw .tooMany("\(Self.limit) reader sessions are already waiting: try again later") }
    lastID += 1
    let session = SessionRecord(
      id: lastID, client: client, uid: uid, pid: pid, reader: reader, readerPath: readerPath, path: path,
      request: request, message: request.message)
    sessions[lastID] = session
    return (session, beginNext(at: reader, now))
  }

  mutating func handle(_ event: Event, at reader: Int, _ now: Instant) -> [Action] {
    let before = readers[reader, default: Reader()]
    var actions: [Action] = []
    switch event {
    case .began(let id):
      guard id == before.occupant, sessions[id]?.state == .starting else { break }
      sessions[id]?.state = .active(until: now + timeLimit)
      actions = [.activated(id)]
    case .ended(let id): if id == before.occupant { actions = vacate(reader) }
    case .lost:
      actions = vacate(reader)
      if before.device == .ready { readers[reader]?.device = .absent(deadline: nil) }
    case .ready(true): if before.device != .lent { readers[reader, default: Reader()].device = .ready }
    case .ready(false): if before.device == .ready { readers[reader]?.device = .absent(deadline: nil) }
    case .lent(true):
      readers[reader, default: Reader()].device = .lent
      if let occupant = before.occupant { actions = finish(occupant, .readerLost) }
    case .lent(false):
      if before.device == .ready || before.device == .lent { readers[reader]?.device = .absent(deadline: nil) }
    }
    return actions + beginNext(at: reader, now)
  }

  mutating func tick(at now: Instant) -> [Action] {
    var actions: [Action] = []
    for session in open where session.deadline.map({ $0 <= now }) == true {
      actions += end(session.id, .timedOut, at: now)
    }
    for (reader, state) in readers.sorted(by: { $0.key < $1.key }) {
      guard case .absent(let deadline?) = state.device, deadline <= now else { continue }
      for session in open where session.reader == reader && session.state == .waiting {
        actions += end(session.id, .readerLost, at: now)
      }
    }
    return actions
  }

  /// Has no effect if the session is over.
  mutating func end(_ id: UInt64, _ reason: Names.SessionEnd, message: String = "", at now: Instant) -> [Action] {
    guard let session = sessions[id], session.isOpen else { return [] }
    sessions[id]?.errorMessage = message
    return finish(id, reason) + beginNext(at: session.reader, now)
  }

  /// The client has left the bus.
  mutating func leave(_ client: String, at now: Instant) -> [Action] {
    var actions: [Action] = []
    for session in sessions.values.sorted(by: { $0.id < $1.id }) where session.client == client {
      actions += finish(session.id, nil) + beginNext(at: session.reader, now)
      actions += forget(session.id)
    }
    return actions
  }

  /// The reader is gone for good, so its process sends no more confirmations.
  mutating func removeReader(_ reader: Int) -> [Action] {
    let actions = open.filter { $0.reader == reader }.flatMap { finish($0.id, .readerLost) }
    readers[reader] = nil
    return actions
  }

  mutating func found(_ tag: SessionTag, by id: UInt64) -> [Action] {
    guard sessions[id]?.isActive == true, let number = sessions[id]?.add(tag) else { return [] }
    return [.found(id, tag: number)]
  }

  mutating func removed(_ placement: UInt64, from id: UInt64) -> [Action] {
    guard let tag = sessions[id]?.remove(placement) else { return [] }
    return [.gone(id, tag: tag.path)]
  }

  func endedRound(of id: UInt64) -> [Action] { sessions[id]?.isActive == true ? [.roundEnded(id)] : [] }

  func restartedPolling(of id: UInt64) -> [Action] { sessions[id]?.isActive == true ? [.pollingRestarted(id)] : [] }

  /// Tells the process to begin the session that has waited longest, or sets the deadline of those that wait.
  private mutating func beginNext(at reader: Int, _ now: Instant) -> [Action] {
    let state = readers[reader, default: Reader()]
    let next = open.first { $0.reader == reader && $0.state == .waiting }
    switch state.device {
    case .ready:
      guard state.occupant == nil, let next else { break }
      readers[reader]?.occupant = next.id
      sessions[next.id]?.state = .starting
      return [.begin(reader, next.options)]
    case .absent(let deadline):
      let deadline = next == nil ? nil : deadline ?? now + Self.absence
      readers[reader, default: Reader()].device = .absent(deadline: deadline)
    case .lent: break
    }
    return []
  }

  /// The process no longer has a session. If it ended the session by itself, that session has lost the reader.
  private mutating func vacate(_ reader: Int) -> [Action] {
    guard let occupant = readers[reader]?.occupant else { return [] }
    readers[reader]?.occupant = nil
    return finish(occupant, .readerLost)
  }

  /// The reason is nil if the client has left the bus.
  private mutating func finish(_ id: UInt64, _ reason: Names.SessionEnd?) -> [Action] {
    guard let session = sessions[id], session.isOpen else { return [] }
    var ended = session
    ended.state = .ended(reason)
    ended.tags = [:]
    sessions[id] = ended
    var actions = session.tags.sorted { $0.key < $1.key }.map { Action.gone(id, tag: $0.value.path) }
    actions.append(.ended(ended))
    for other in sessions.values where other.client == session.client && !other.isOpen && other.id != id {
      actions += forget(other.id)
    }
    if readers[session.reader]?.occupant == id { actions.append(.release(session.reader, id)) }
    return actions
  }

  private mutating func forget(_ id: UInt64) -> [Action] {
    guard let session = sessions.removeValue(forKey: id) else { return [] }
    return [.forgotten(session.path)]
  }
}
