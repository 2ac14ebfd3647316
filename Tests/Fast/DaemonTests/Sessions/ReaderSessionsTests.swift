import Bus
import Names
import ReaderLink
import Testing

@testable import Daemon

/// All reader sessions together, without a bus: their limits, and their end when a client leaves.
@Suite struct ReaderSessionsTests {
  private static let now = SuspendingClock.now
  private static let reader = "/org/tagroute/Tagroute1/readers/0" as ObjectPath

  private func add(
    _ sessions: inout ReaderSessions, client: String = ":1.1", uid: UInt32 = 1000
  ) throws(BusError) -> (SessionRecord, [ReaderSessions.Action]) {
    try sessions.add(
      ReaderSessionRequest(), client: client, uid: uid, pid: 1, reader: 0, readerPath: Self.reader, at: Self.now)
  }

  @Test func `a user can have 32 open sessions, and all users together 128`() throws {
    var sessions = ReaderSessions()
    // No session gets the reader, because it is not ready.
    for _ in 0..<ReaderSessions.limitOfUser { _ = try add(&sessions) }
    #expect(throws: BusError.self) { try add(&sessions) }
    for user in 1..<UInt32(4) {
      for _ in 0..<ReaderSessions.limitOfUser { _ = try add(&sessions, client: ":1.\(user)", uid: 1000 + user) }
    }
    #expect(throws: BusError.self) { try add(&sessions, uid: 2000) }
    // A session that ends makes room.
    _ = sessions.end(1, .cancelled, at: Self.now)
    _ = try add(&sessions)
  }

  @Test func `all sessions of a client that leaves are removed`() throws {
    var sessions = ReaderSessions()
    _ = sessions.handle(.ready(true), at: 0, Self.now)
    let (first, begin) = try add(&sessions)
    #expect(begin == [.begin(0, first.options)])
    _ = sessions.handle(.began(1), at: 0, Self.now)
    let tag = SessionTag(placement: Placement(number: 7, technology: .type2, uid: [1, 2, 3, 4]))
    #expect(sessions.found(tag, by: 1) == [.found(1, tag: 1)])
    _ = try add(&sessions)
    let (other, _) = try add(&sessions, client: ":1.2")
    let actions = sessions.leave(":1.1", at: Self.now)
    let ended = actions.compactMap { action -> SessionRecord? in
      if case .ended(let session) = action { session } else { nil }
    }
    #expect(ended.map(\.id) == [1, 2])
    #expect(ended.allSatisfy { $0.state == .ended(nil) })
    #expect(actions.contains(.gone(1, tag: try ObjectPath("\(first.path)/tags/1"))))
    #expect(actions.contains(.forgotten(first.path)))
    #expect(sessions.sessions.keys.sorted() == [3])
    #expect(sessions.handle(.ended(1), at: 0, Self.now) == [.begin(0, other.options)])
  }

  @Test func `one ended session stays for each client`() throws {
    var sessions = ReaderSessions()
    for _ in 0..<3 { _ = try add(&sessions) }
    for id in 1...3 as ClosedRange<UInt64> { _ = sessions.end(id, .invalidated, at: Self.now) }
    #expect(sessions.sessions.keys.sorted() == [3])
    #expect(sessions.session(at: "/org/tagroute/Tagroute1/sessions/3")?.end == .invalidated)
    #expect(sessions.open.isEmpty)
    #expect(!sessions.isOccupied(0))
  }

  @Test func `a reader that disappears ends all of its sessions`() throws {
    var sessions = ReaderSessions()
    _ = sessions.handle(.ready(true), at: 0, Self.now)
    _ = try add(&sessions)
    _ = try add(&sessions, client: ":1.2")
    _ = sessions.handle(.began(1), at: 0, Self.now)
    let actions = sessions.removeReader(0)
    #expect(actions.count { if case .ended = $0 { true } else { false } } == 2)
    #expect(sessions.open.isEmpty)
    #expect(sessions.deadline == nil)
  }

  @Test func `tags outside the active time of a session are ignored`() throws {
    var sessions = ReaderSessions()
    _ = sessions.handle(.ready(true), at: 0, Self.now)
    _ = try add(&sessions)
    let tag = SessionTag(placement: Placement(number: 7, technology: .type2, uid: [1, 2, 3, 4]))
    #expect(sessions.found(tag, by: 1) == [])
    #expect(sessions.endedRound(of: 1) == [])
    #expect(sessions.restartedPolling(of: 1) == [])
    _ = sessions.handle(.began(1), at: 0, Self.now)
    #expect(sessions.endedRound(of: 1) == [.roundEnded(1)])
    #expect(sessions.restartedPolling(of: 1) == [.pollingRestarted(1)])
    _ = sessions.end(1, .invalidated, at: Self.now)
    #expect(sessions.found(tag, by: 1) == [])
    #expect(sessions.found(tag, by: 99) == [])
    #expect(sessions.removed(7, from: 1) == [])
    #expect(sessions.endedRound(of: 1) == [])
    #expect(sessions.restartedPolling(of: 1) == [])
    #expect(throws: BusError.self) { try sessions[1]?.check([0x30, 0], tag: 1) }
  }

  @Test func `a polling restart that is requested too soon is delayed, and requests until then share it`() throws {
    var sessions = ReaderSessions()
    _ = sessions.handle(.ready(true), at: 0, Self.now)
    _ = try add(&sessions)
    #expect(throws: BusError.self) { try sessions[1]?.planRestart(at: Self.now) }
    _ = sessions.handle(.began(1), at: 0, Self.now)
    var now = Self.now
    #expect(try sessions[1]?.planRestart(at: now) == .zero)
    now += .milliseconds(50)
    #expect(try sessions[1]?.planRestart(at: now) == .milliseconds(150))
    for _ in 0..<1000 { #expect(try sessions[1]?.planRestart(at: now) == nil) }
    now += .milliseconds(150)
    #expect(try sessions[1]?.planRestart(at: now) == SessionRecord.restartInterval)
    now += SessionRecord.restartInterval + SessionRecord.restartInterval
    #expect(try sessions[1]?.planRestart(at: now) == .zero)
    _ = sessions.end(1, .invalidated, at: now)
    #expect(throws: BusError.self) { try sessions[1]?.planRestart(at: now) }
  }

  @Test func `the reader process gets the applications only if it selects one of them`() throws {
    func options(_ more: [String: Value]) throws -> ReaderSessionOptions {
      let declared = Value.array(element: "ay", [.bytes(Self.application)])
      let request = try ReaderSessionRequest(more.merging(["application-identifiers": declared]) { $1 })
      var sessions = ReaderSessions()
      return try sessions.add(
        request, client: ":1.1", uid: 1000, pid: 1, reader: 0, readerPath: Self.reader, at: Self.now
      ).0.options
    }
    #expect(try options([:]) == ReaderSessionOptions(number: 1, applicationIdentifiers: [Self.application]))
    #expect(try options(["undeclared-cards": .boolean(true)]).reportsUndeclaredCards)
    #expect(try options(["select-application": .boolean(false)]) == ReaderSessionOptions(number: 1))
  }

  @Test func `a polling restart has the options of its last request`() throws {
    var sessions = ReaderSessions()
    _ = sessions.handle(.ready(true), at: 0, Self.now)
    let (session, _) = try add(&sessions)
    _ = sessions.handle(.began(1), at: 0, Self.now)
    func restart(_ technologies: [String]) throws -> [TagType]? {
      _ = try sessions[1]?.planRestart(["technologies": .strings(technologies)], at: Self.now)
      return sessions[1]?.options.technologies
    }
    #expect(try restart(["type-2"]) == [.type2])
    #expect(try restart(["type-3"]) == [.type3])
    #expect(throws: BusError.self) { try restart(["paper"]) }
    #expect(sessions[1]?.options.technologies == [.type3])
    _ = try sessions[1]?.planRestart(at: Self.now)
    #expect(sessions[1]?.options == session.options)
  }

  // MARK: The selection on a card

  private static let application: [UInt8] = [0xA0, 0, 0, 3, 0x96]
  private static let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, 0x05] + application
  /// Selects a file or an application below the current selection.
  private static let file: [UInt8] = [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03]

  /// A session with two cards. The declared application is selected on the first card.
  private func cards() throws -> ReaderSessions {
    var sessions = ReaderSessions()
    _ = sessions.handle(.ready(true), at: 0, Self.now)
    let request = try ReaderSessionRequest([
      "application-identifiers": .array(element: "ay", [.bytes(Self.application)])
    ])
    _ = try sessions.add(
      request, client: ":1.1", uid: 1000, pid: 1, reader: 0, readerPath: Self.reader, at: Self.now)
    _ = sessions.handle(.began(1), at: 0, Self.now)
    for number in [7, 8] as [UInt64] {
      let placement = Placement(number: number, technology: .type4A, uid: [1, 2, 3, UInt8(number)])
      _ = sessions.found(SessionTag(placement: placement), by: 1)
    }
    try send(Self.select, answer: [0x90, 0x00], &sessions)
    try sessions[1]?.check(Self.file, tag: 1)
    return sessions
  }

  private func send(_ command: [UInt8], answer: [UInt8]?, tag: UInt64 = 1, _ sessions: inout ReaderSessions) throws {
    try sessions[1]?.check(command, tag: tag)
    let turn = sessions[1]?.select(tag) ?? 0
    sessions[1]?.learn(answer, to: command, tag: tag, turn: turn)
  }

  @Test func `a card loses its selection when the reader turns to another card`() throws {
    var sessions = try cards()
    sessions[1]?.select(2)
    #expect(throws: BusError.self) { try sessions[1]?.check(Self.file, tag: 1) }
    // A reply that was on its way does not restore the selection: the reader turned to the other card in between.
    sessions = try cards()
    try sessions[1]?.check(Self.select, tag: 1)
    let turn = sessions[1]?.select(1) ?? 0
    sessions[1]?.select(2)
    sessions[1]?.learn([0x90, 0x00], to: Self.select, tag: 1, turn: turn)
    #expect(throws: BusError.self) { try sessions[1]?.check(Self.file, tag: 1) }
    try send(Self.select, answer: [0x90, 0x00], &sessions)
    try sessions[1]?.check(Self.file, tag: 1)
  }

  @Test(arguments: ReaderOperationFailure.allCases)
  func `a failed command clears the selection of the card`(failure: ReaderOperationFailure) throws {
    var sessions = try cards()
    sessions[1]?.failed(failure, tag: 1)
    // The card keeps its selection if it received no command or is away.
    let isAsBefore = [.busy, .tagLost, .deviceLost, .sessionEnded].contains(failure)
    #expect(((try? sessions[1]?.check(Self.file, tag: 1)) != nil) == isAsBefore)
  }

  @Test(arguments: ReaderOperationFailure.allCases)
  func `the application that a card names is remembered until it loses power`(failure: ReaderOperationFailure) throws {
    var sessions = try cards()
    // The reply to the selection of a file names the application of a bank.
    try send(
      [0x00, 0xA4, 0x00, 0x00, 0x02, 0x50, 0x15],
      answer: [0x6F, 0x0B, 0x84, 0x07, 0xA0, 0, 0, 0, 3, 0x10, 0x10, 0xA5, 0, 0x90, 0], &sessions)
    let read: [UInt8] = [0x00, 0xB2, 0x01, 0x0C, 0x00]
    #expect(throws: BusError.self) { try sessions[1]?.check(read, tag: 1) }
    sessions[1]?.failed(failure, tag: 1)
    sessions[1]?.select(2)
    #expect(((try? sessions[1]?.check(read, tag: 1)) != nil) == (failure == .timeout))
  }
}
