import Bus
import Names
import ReaderProtocol
import Testing

@testable import Daemon

/// All reader sessions together, without a bus: their limits, and their end when a client leaves.
@Suite struct ReaderSessionsTests {
  private static let now = SuspendingClock.now
  private var sessions = ReaderSessions()

  @discardableResult
  private mutating func add(
    _ request: ReaderSessionRequest = ReaderSessionRequest(), client: String = ":1.1", uid: UInt32 = 1000
  ) throws(BusError) -> (SessionRecord, [ReaderSessions.Action]) {
    try sessions.add(
      request, client: client, uid: uid, pid: 1, reader: 0, readerPath: Samples.reader, at: Self.now)
  }

  private mutating func handle(_ event: ReaderSessions.Event) -> [ReaderSessions.Action] {
    sessions.handle(event, at: 0, Self.now)
  }

  /// Adds a session, which gets the reader.
  private mutating func begin(
    _ request: ReaderSessionRequest = ReaderSessionRequest()
  ) throws(BusError) -> SessionRecord {
    _ = handle(.ready(true))
    let (session, actions) = try add(request)
    #expect(actions == [.begin(0, session.options)])
    _ = handle(.began(1))
    return session
  }

  @Test mutating func `a user can have 32 open sessions, and all users together 128`() throws {
    // No session gets the reader, because it is not ready.
    for _ in 0..<ReaderSessions.limitOfUser { try add() }
    #expect(throws: BusError.self) { try add() }
    for user in 1..<UInt32(4) {
      for _ in 0..<ReaderSessions.limitOfUser { try add(client: ":1.\(user)", uid: 1000 + user) }
    }
    #expect(throws: BusError.self) { try add(uid: 2000) }
    // A session that ends makes room.
    _ = sessions.end(1, .cancelled, at: Self.now)
    try add()
  }

  @Test mutating func `all sessions of a client that leaves are removed`() throws {
    let first = try begin()
    let tag = SessionTag(placement: Placement(number: 7, technology: .type2, uid: [1, 2, 3, 4]))
    #expect(sessions.found(tag, by: 1) == [.found(1, tag: 1)])
    try add()
    let (other, _) = try add(client: ":1.2")
    let actions = sessions.leave(":1.1", at: Self.now)
    let ended = actions.compactMap { action -> SessionRecord? in
      if case .ended(let session) = action { session } else { nil }
    }
    #expect(ended.map(\.id) == [1, 2])
    #expect(ended.allSatisfy { $0.state == .ended(nil) })
    #expect(actions.contains(.gone(1, tag: try ObjectPath("\(first.path)/tags/1"))))
    #expect(actions.contains(.forgotten(first.path)))
    #expect(sessions.sessions.keys.sorted() == [3])
    #expect(handle(.ended(1)) == [.begin(0, other.options)])
  }

  @Test mutating func `one ended session stays for each client`() throws {
    for _ in 0..<3 { try add() }
    for id in 1...3 as ClosedRange<UInt64> { _ = sessions.end(id, .invalidated, at: Self.now) }
    #expect(sessions.sessions.keys.sorted() == [3])
    #expect(sessions.session(at: "/org/tagroute/Tagroute1/sessions/3")?.end == .invalidated)
    #expect(sessions.open.isEmpty)
    #expect(!sessions.isOccupied(0))
  }

  @Test mutating func `a reader that disappears ends all of its sessions`() throws {
    _ = try begin()
    try add(client: ":1.2")
    let actions = sessions.removeReader(0)
    #expect(actions.count { if case .ended = $0 { true } else { false } } == 2)
    #expect(sessions.open.isEmpty)
    #expect(sessions.deadline == nil)
  }

  @Test mutating func `tags outside the active time of a session are ignored`() throws {
    _ = handle(.ready(true))
    try add()
    let tag = SessionTag(placement: Placement(number: 7, technology: .type2, uid: [1, 2, 3, 4]))
    #expect(sessions.found(tag, by: 1) == [])
    #expect(sessions.endedRound(of: 1) == [])
    #expect(sessions.restartedPolling(of: 1) == [])
    _ = handle(.began(1))
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

  @Test mutating func `a polling restart that is requested too soon is delayed, and later requests share it`() throws {
    _ = handle(.ready(true))
    try add()
    #expect(throws: BusError.self) { try sessions[1]?.planRestart(at: Self.now) }
    _ = handle(.began(1))
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

  @Test mutating func `the reader process gets the applications only if it selects one of them`() throws {
    func options(_ more: [String: Value]) throws -> TagSessionOptions {
      let declared = Value.array(element: "ay", [.bytes(Self.application)])
      let request = try ReaderSessionRequest(more.merging(["application-identifiers": declared]) { $1 })
      sessions = ReaderSessions()
      return try add(request).0.options
    }
    #expect(try options([:]) == TagSessionOptions(number: 1, applicationIdentifiers: [Self.application]))
    #expect(try options(["undeclared-cards": .boolean(true)]).reportsUndeclaredCards)
    #expect(try options(["select-application": .boolean(false)]) == TagSessionOptions(number: 1))
  }

  @Test mutating func `a polling restart has the options of its last request`() throws {
    let session = try begin()
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

  /// Begins a session with two cards. The declared application is selected on the first card.
  private mutating func beginWithCards() throws {
    sessions = ReaderSessions()
    _ = try begin(
      ReaderSessionRequest(["application-identifiers": .array(element: "ay", [.bytes(Self.application)])]))
    for number in [7, 8] as [UInt64] {
      let placement = Placement(number: number, technology: .type4A, uid: [1, 2, 3, UInt8(number)])
      _ = sessions.found(SessionTag(placement: placement), by: 1)
    }
    try send(Self.select, answer: [0x90, 0x00])
    try sessions[1]?.check(Self.file, tag: 1)
  }

  private mutating func send(_ command: [UInt8], answer: [UInt8]) throws {
    try sessions[1]?.check(command, tag: 1)
    let turn = sessions[1]?.select(1) ?? 0
    sessions[1]?.learn(answer, to: command, tag: 1, turn: turn)
  }

  @Test mutating func `a card loses its selection when the reader turns to another card`() throws {
    try beginWithCards()
    sessions[1]?.select(2)
    #expect(throws: BusError.self) { try sessions[1]?.check(Self.file, tag: 1) }
    // A reply that was on its way does not restore the selection: the reader turned to the other card in between.
    try beginWithCards()
    try sessions[1]?.check(Self.select, tag: 1)
    let turn = sessions[1]?.select(1) ?? 0
    sessions[1]?.select(2)
    sessions[1]?.learn([0x90, 0x00], to: Self.select, tag: 1, turn: turn)
    #expect(throws: BusError.self) { try sessions[1]?.check(Self.file, tag: 1) }
    try send(Self.select, answer: [0x90, 0x00])
    try sessions[1]?.check(Self.file, tag: 1)
  }

  @Test(arguments: ReaderOperationFailure.allCases)
  mutating func `a failed command clears the selection, and lost power the application that the card names`(
    failure: ReaderOperationFailure
  ) throws {
    try beginWithCards()
    sessions[1]?.failed(failure, tag: 1)
    // The card keeps its selection if it received no command or is away.
    let isAsBefore = [.busy, .tagLost, .deviceLost, .sessionEnded].contains(failure)
    #expect(((try? sessions[1]?.check(Self.file, tag: 1)) != nil) == isAsBefore)
    try beginWithCards()
    // The reply to the selection of a file names the application of a bank.
    try send(
      [0x00, 0xA4, 0x00, 0x00, 0x02, 0x50, 0x15],
      answer: [0x6F, 0x0B, 0x84, 0x07, 0xA0, 0, 0, 0, 3, 0x10, 0x10, 0xA5, 0, 0x90, 0])
    // GetVersion of DESFire needs no application.
    let read: [UInt8] = [0x90, 0x60, 0x00, 0x00, 0x00]
    #expect(throws: BusError.self) { try sessions[1]?.check(read, tag: 1) }
    sessions[1]?.failed(failure, tag: 1)
    sessions[1]?.select(2)
    #expect(((try? sessions[1]?.check(read, tag: 1)) != nil) == (failure == .timeout))
  }
}

/// The options that a client can set for a reader session.
@Suite struct ReaderSessionRequestTests {
  @Test(arguments: [
    ["message": Value.uint32(1)], ["message": .string("a\u{202E}b")],
    ["message": .string(String(repeating: "a", count: 257))], ["access": .string("own")],
    ["message": .string("a\r\nb")], ["message": .string("a\u{2028}b")],
    ["technologies": .strings(["paper"])], ["reader": .string("/")], ["first-read": .string("yes")],
    ["undeclared-cards": .uint32(1)], ["select-application": .string("no")], ["format": .string("yes")],
    ["application-identifiers": .array(element: "ay", [.bytes([0xA0, 0, 0, 0, 3])])],
    ["application-identifiers": .array(element: "ay", [.bytes([1, 2, 3, 4])])],
    ["system-codes": .array(element: "q", [.uint16(0xFFFF)])],
  ])
  func `wrong options are rejected`(_ options: [String: Value]) throws {
    #expect(throws: BusError.self) { try ReaderSessionRequest(options) }
  }

  /// Programs that are written for iOS declare all applications that they know of.
  @Test func `what may not be declared is left out of a long list`() throws {
    let good = (0..<600).map { [0xF0, 1, 2, UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    let identifiers = [[0xA0, 0, 0, 0, 3], [1, 2, 3, 4]] + good
    let codes = [0xFE00, 0x12FF] + (1...70).map { UInt16($0) }
    let request = try ReaderSessionRequest([
      "application-identifiers": .array(element: "ay", identifiers.map(Value.bytes)),
      "system-codes": .array(element: "q", codes.map(Value.uint16)),
    ])
    #expect(request.applications == Array(good.prefix(512)))
    #expect(request.systemCodes == [0xFE00] + (1...63).map { UInt16($0) })
    #expect(
      request.leftOut
        == "application-identifiers: 2 of 602 (payment applications are never selected) and those after the first 512; "
        + "system-codes: 1 of 72 (a FeliCa system code with a byte FF means any system: give the exact codes) and those "
        + "after the first 64")
    #expect(try ReaderSessionRequest([:]).leftOut.isEmpty)
  }

  /// The daemon checks each entry on its event loop.
  @Test func `a list of too many entries is rejected`() throws {
    let most = ReaderSessionRequest.maximumEntries
    func codes(_ count: Int) -> [String: Value] {
      ["system-codes": .array(element: "q", [Value](repeating: .uint16(3), count: count))]
    }
    func identifiers(_ count: Int) -> [String: Value] {
      ["application-identifiers": .array(element: "ay", [Value](repeating: .bytes([0xF0, 1, 2, 3, 4]), count: count))]
    }
    for (key, list) in [("system-codes", codes), ("application-identifiers", identifiers)] {
      let error = #expect(throws: BusError.self) { try ReaderSessionRequest(list(most + 1)) }
      #expect(error?.name == Names.Errors.invalidArgument)
      #expect(error?.message == "\(key) has 4097 entries: at most 4096 are allowed")
      _ = try ReaderSessionRequest(list(most))
    }
    #expect(throws: BusError.self) { try ReaderSessionRequest(codes(1)).limited(by: codes(most + 1)) }
  }

  @Test func `only texts for the sheet may have several lines`() throws {
    #expect(try ReaderSessionRequest(["message": .string("a\n\nb\n")]).message == "a\n\nb\n")
    #expect(PlainText.problem("a\nb", "who", 1...128) != nil)
  }

  @Test func `a request is limited to a part of its tags`() throws {
    let applications: [[UInt8]] = [[0xF0, 1, 2, 3, 4], [0xF0, 1, 2, 3, 5]]
    let request = try ReaderSessionRequest([
      "technologies": .strings(["type-2", "type-3"]), "message": .string("a"),
      "system-codes": .array(element: "q", [.uint16(3), .uint16(0x12FC)]),
      "application-identifiers": .array(element: "ay", applications.map(Value.bytes)),
    ])
    #expect(try request.limited(by: [:]) == request)
    #expect(try request.limited(by: ["technologies": .strings([]), "something-new": .uint32(1)]) == request)
    var limited = request
    limited.technologies = [.type3]
    limited.applications = applications.reversed()
    limited.systemCodes = [3]
    let options: [String: Value] = [
      "technologies": .strings(["type-3"]), "system-codes": .array(element: "q", [.uint16(3)]),
      "application-identifiers": .array(element: "ay", applications.reversed().map(Value.bytes)),
    ]
    #expect(try request.limited(by: options) == limited)
    for wrong in [
      ["technologies": .strings(["type-2", "type-4a"])], ["technologies": .string("type-2")],
      ["system-codes": .array(element: "q", [.uint16(4)])],
      ["application-identifiers": .array(element: "ay", [.bytes([0xF0, 1, 2, 3, 6])])],
    ] as [[String: Value]] {
      #expect { try request.limited(by: wrong) } throws: { ($0 as? BusError)?.name == Names.Errors.invalidArgument }
    }
    // A session without declared applications cannot begin to select some.
    let application = Value.array(element: "ay", [.bytes(applications[0])])
    #expect(throws: BusError.self) {
      try ReaderSessionRequest().limited(by: ["application-identifiers": application])
    }
  }

  @Test(arguments: ["type-5", "iso-15693"]) func `a session for ISO 15693 has one of two names`(name: String) throws {
    #expect(try ReaderSessionRequest(["technologies": .strings([name])]).technologies == [.type5])
    let error = BusError.cannotRead([.type5])
    #expect(error.name == Names.Errors.notPossible && error.message.contains("ISO/IEC 15693"))
  }
}
