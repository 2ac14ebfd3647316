import Bus
import EventLoop
import Glibc
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import Daemon
@testable import DaemonTests

/// The real `tagrouted` with a scripted reader: reader sessions from their start to each kind of end.
@Suite(.timeLimit(.minutes(5))) struct ReaderSessionTests {
  static let uri: [UInt8] = [0xD1, 0x01, 0x08, 0x55, 0x04] + Array("a.b/c/d".utf8)

  static func tag(_ number: UInt64 = 1, technology: TagType = .type2) -> SessionTag {
    SessionTag(
      placement: Placement(number: number, technology: technology, uid: [4, 1, 2, 3, 4, 5, 6]), atqa: [0x00, 0x44],
      sak: 0)
  }

  @Test func `a session reads a tag, and scanning resumes after it`() async throws {
    let (rig, agent) = try await DaemonRig.scanning(allowing: DaemonRig.clientActions)
    let client = try await rig.client()
    #expect(try await client.isReadingAvailable() == true)
    let session = try await client.start(["message": .string("Hold it there")])
    #expect(try await client.property(session, "Message")?.asString == "Hold it there")
    let options = try await rig.begin()
    #expect(options == TagSessionOptions(number: options.number, technologies: Samples.libnfcTechnologies))
    try await client.expect("Activated", of: session)
    #expect(try await client.property(session, "State")?.asString == "active")
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["reader-session"])
    let reader = try ObjectPath("\(Names.Daemon.readersPath)/0")
    let state = try await client.property(reader, "State", interface: Names.Daemon.readerInterface)
    #expect(state?.asString == "in-session")

    await rig.reader.find(Self.tag())
    let tag = try #require(try await client.expect("TagDetected").first?.asObjectPath)
    #expect(tag == (try session.appending("tags").appending("1")))
    let technology = try await client.property(tag, "Technology", interface: Names.Daemon.tagInterface)
    #expect(technology?.asString == "type-2")
    await rig.reader.endRound()
    #expect(try await client.expect("RoundEnded", of: session) == [])
    async let message = client.callTag(tag, "ReadNDEF")
    #expect(try await rig.perform(.message(Self.uri)) == .read)
    #expect(try await message == [.bytes(Self.uri)])

    try await client.call(session, "Invalidate", [.string("")])
    try await client.expect("TagRemoved")
    #expect(try await client.expect("Ended") == [.string("invalidated"), .string("")])
    try await rig.end()
    try await rig.scanning(true)
    #expect(try await client.property(session, "EndReason")?.asString == "invalidated")
  }

  @Test func `a first-read session ends with the first message`() async throws {
    let active = try await DaemonRig.inSession(["first-read": .boolean(true)])
    let (rig, client, session) = (active.rig, active.client, active.session)
    await rig.reader.find(Self.tag(1))
    try await client.expect("TagDetected")
    #expect(try await rig.perform(.failed(.empty, reason: "it holds nothing")) == .read)
    await rig.reader.find(Self.tag(2))
    try await client.expect("TagDetected")
    _ = try await rig.perform(.message(Self.uri))
    #expect(try await client.expect("MessageRead").last == .bytes(Self.uri))
    try await client.expect("TagRemoved")
    try await client.expect("TagRemoved")
    #expect(try await client.expect("Ended", of: session).first == .string("first-read"))
    try await rig.end()
  }

  @Test func `a restart of polling is limited to a part of what the session has declared`() async throws {
    let active = try await DaemonRig.inSession(["technologies": .strings(["type-2", "type-3"])])
    let (rig, client, session, options) = (active.rig, active.client, active.session, active.options)
    func restart(_ technology: String) async throws {
      let options = Value.dictionary(["technologies": .strings([technology])])
      try await client.call(session, "RestartPollingWithOptions", [options])
    }
    func restarted() async throws -> TagSessionOptions {
      let options = try await rig.command { command -> TagSessionOptions? in
        if case .restartPolling(_, let options) = command { options } else { nil }
      }
      await rig.reader.restartPolling()
      #expect(try await client.expect("PollingRestarted", of: session) == [])
      return options
    }
    #expect(await AgentDouble.errorName { try await restart("type-4a") } == Names.Errors.invalidArgument)
    try await restart("type-3")
    #expect(try await restarted() == TagSessionOptions(number: options.number, technologies: [.type3]))
    try await client.call(session, "RestartPolling")
    #expect(try await restarted() == options)
  }

  @Test func `a session that is ended from outside has a reason`() async throws {
    let (rig, agent) = try await DaemonRig.scanning(allowing: DaemonRig.clientActions)
    let client = try await rig.client()
    func session(_ reason: String, _ body: () async throws -> Void) async throws {
      _ = try await client.start()
      _ = try await rig.begin()
      try await client.expect("Activated")
      try await body()
      #expect(try await client.expect("Ended").first == .string(reason))
    }
    try await session("session-inactive") { try await rig.logind?.update("2") { $0.isLocked = true } }
    try await rig.end()
    try await rig.logind?.update("2") { $0.isLocked = false }
    try await rig.scanning(true)
    try await session("sleeping") { try await rig.logind?.prepareForSleep(true) }
    try await rig.end()
    try await rig.logind?.prepareForSleep(false)
    try await rig.scanning(true)
    try await session("reader-lost") {
      await rig.reader.send(.state(.failed(reason: "it is gone")))
    }
    try await rig.scanning(true)
    let seen = await rig.daemon.log().count
    await rig.reader.becomeReady()
    try await rig.daemon.line(containing: DaemonRig.readyLine, after: seen)
    try await session("daemon-stopping") { rig.daemon.signal(15) }
    _ = agent
  }

  @Test func `the interfaces are as documented, and only their client sees them`() async throws {
    let active = try await DaemonRig.inSession(["access": .string("write")])
    let (agent, client, session) = (active.agent, active.client, active.session)
    let tag = try await active.findTag()
    for (path, name) in [(session, Names.Daemon.readerSessionInterface), (tag, Names.Daemon.tagInterface)] {
      func introspect(_ connection: Connection) async throws -> String? {
        try await connection.call(
          Names.Daemon.busName, path, "org.freedesktop.DBus.Introspectable", "Introspect"
        ).first?.asString
      }
      let running = InterfaceDescription(of: name, in: try #require(try await introspect(client.connection)))
      #expect(running == (try InterfaceDescription(documented: name)))
      let refused = await AgentDouble.errorName { _ = try await introspect(agent.connection) }
      #expect(refused == BusError.Name.unknownObject)
    }
  }

  @Test func `a reader is lent to another program and taken back`() async throws {
    let active = try await DaemonRig.inSession()
    let (rig, agent, client, session) = (active.rig, active.agent, active.client, active.session)
    do {
      async let reply = agent.borrowReader(for: "tagroute run", why: "nfc-list")
      try await client.expect("Ended", of: session)
      try await rig.lending(true)
      await rig.reader.reach()
      let results = try await reply
      #expect(results.last?.asDictionary?["device"]?.asString == "pn532_uart:/dev/scripted")
      let path = try ObjectPath("\(Names.Daemon.readersPath)/0")
      let state = try await client.property(path, "State", interface: Names.Daemon.readerInterface)
      #expect(state?.asString == "released")
      let second = await AgentDouble.errorName {
        try await agent.borrowReader(for: "b", why: "c")
      }
      #expect(second == Names.Errors.notPossible)
      // A new session waits during the loan.
      let waiting = try await client.start()
      #expect(try await client.property(waiting, "State")?.asString == "waiting")
      #expect(try await client.property(waiting, "Deadline")?.asUInt64 == 0)
    }
    try await rig.lending(false)
    await rig.reader.becomeReady()
    _ = try await rig.begin()
    try await client.expect("Activated")
  }

  @Test func `only the user at the reader gets a session or a loan`() async throws {
    let rig = try await DaemonRig(
      sessions: [LogindStandIn.Session(id: "2", uid: DaemonRig.session.uid + 1000)], allowing: DaemonRig.clientActions)
    let client = try await rig.client()
    #expect(await AgentDouble.errorName { _ = try await client.start() } == Names.Errors.notAuthorized)
    #expect(try await client.isReadingAvailable() == false)
    // The daemon does not lend the reader to this user either.
    for option in [[:], ["reader": Value.objectPath(try ObjectPath("\(Names.Daemon.readersPath)/0"))]] {
      let refused = await AgentDouble.errorName {
        _ = try await client.connection.call(
          Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "InhibitWithOptions",
          [.string("a"), .string("b"), .dictionary(option.merging(["release-reader": .boolean(true)]) { $1 })])
      }
      #expect(refused == Names.Errors.notAuthorized)
    }
  }

  @Test func `polkit is asked about the requested access`() async throws {
    let (rig, _) = try await DaemonRig.scanning(allowing: DaemonRig.clientActions)
    let polkit = try #require(rig.polkit)
    await polkit.allow([Names.PolkitAction.readTags])
    let client = try await rig.client()
    let refused = await AgentDouble.errorName { _ = try await client.start(["access": .string("write")]) }
    #expect(refused == Names.Errors.notAuthorized)
    _ = try await client.start()
    #expect(await polkit.questions.map(\.action) == [Names.PolkitAction.writeTags, Names.PolkitAction.readTags])
    // A session with read access cannot write.
    _ = try await rig.begin()
    try await client.expect("Activated")
    await rig.reader.find(Self.tag())
    let tag = try #require(try await client.expect("TagDetected").first?.asObjectPath)
    for (member, arguments) in [
      ("WriteNDEF", [Value.bytes(Self.uri)]), ("Lock", []),
      ("Transceive", [.bytes([0xA2, 4, 0, 0, 0, 0]), .uint32(0)]),
    ] {
      let refused = await AgentDouble.errorName { try await client.callTag(tag, member, arguments) }
      #expect(refused == Names.Errors.notAuthorized, "\(member)")
    }
    async let answer = client.callTag(tag, "Transceive", [.bytes([0x30, 0]), .uint32(0)])
    #expect(try await rig.perform(.answer([1, 2])) == .transceive([0x30, 0], timeout: 1000))
    #expect(try await answer == [.bytes([1, 2])])
  }

  @Test func `each failure of a tag has its own error name, and progress is signalled`() async throws {
    let active = try await DaemonRig.inSession()
    let (rig, client) = (active.rig, active.client)
    let tag = try await active.findTag()
    var names: Set<String> = []
    for failure in ReaderOperationFailure.allCases {
      async let name = AgentDouble.errorName { try await client.callTag(tag, "ReadNDEF") }
      _ = try await rig.perform(.failed(failure, reason: "it was so"))
      names.insert(try #require(await name))
    }
    #expect(names.count == ReaderOperationFailure.allCases.count)
    #expect(names.allSatisfy { $0.hasPrefix(Names.Errors.prefix) && $0 != Names.Errors.failed })

    async let status = client.callTag(tag, "QueryNDEF")
    let request = try await rig.command { command -> UInt64? in
      if case .perform(_, let request, _, .query) = command { request } else { nil }
    }
    await rig.reader.send(.progress(request: request, bytes: 1234))
    #expect(try await client.expect("Progress") == [.objectPath(tag), .uint64(1234)])
    await rig.reader.send(.performed(request: request, .status(.readOnly, capacity: 137)))
    #expect(try await status == [.string("read-only"), .uint32(137)])
  }

  @Test func `the message must be plain text, and the deadline is one minute away`() async throws {
    let (rig, _) = try await DaemonRig.scanning(allowing: DaemonRig.clientActions)
    let client = try await rig.client()
    let session = try await client.start()
    func set(_ message: String) async -> String? {
      await AgentDouble.errorName {
        _ = try await client.connection.call(
          Names.Daemon.busName, session, "org.freedesktop.DBus.Properties", "Set",
          [.string(Names.Daemon.readerSessionInterface), .string("Message"), .variant(.string(message))])
      }
    }
    _ = try await rig.begin()
    try await client.expect("Activated")
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let now = UInt64(time.tv_sec) * 1_000_000
    let deadline = try #require(try await client.property(session, "Deadline")?.asUInt64)
    #expect(deadline > now && deadline <= now + 61_000_000)
    #expect(await set("a\u{1B}[31m") == Names.Errors.invalidArgument)
    #expect(await set(String(repeating: "é", count: 129)) == Names.Errors.invalidArgument)
    #expect(await set("put it\ndown") == nil)
    #expect(try await client.property(session, "Message")?.asString == "put it\ndown")
    let wrong = await AgentDouble.errorName { try await client.call(session, "Invalidate", [.string("a\u{202E}")]) }
    #expect(wrong == Names.Errors.invalidArgument)
    try await client.call(session, "Invalidate", [.string("the wrong\ncard")])
    #expect(try await client.expect("Ended") == [.string("invalidated"), .string("the wrong\ncard")])
    #expect(await set("too late") == Names.Errors.notPossible)
    #expect(
      await AgentDouble.errorName { try await client.call(session, "RestartPolling") } == Names.Errors.notPossible)
    // A session can be ended twice.
    try await client.call(session, "Invalidate", [.string("")])
    try await rig.end()
  }
}

/// The real `tagrouted`: an agent receives the sheets of its user's reader session and can cancel the session.
@Suite(.timeLimit(.minutes(5))) struct ReaderSessionSheetTests {
  @Test func `an agent shows the session of its user and cancels it`() async throws {
    let active = try await DaemonRig.inSession(["message": .string("Hold it")])
    let (rig, agent, client, session) = (active.rig, active.agent, active.client, active.session)
    var sheets = agent.sheets.makeAsyncIterator()
    let shown = try #require(await sheets.next())
    #expect(shown.member == "ShowReaderSession")
    #expect(shown.arguments.first == .objectPath(session))
    #expect(shown.arguments.last?.asDictionary?["message"]?.asString == "Hold it")
    _ = try await client.connection.call(
      Names.Daemon.busName, session, "org.freedesktop.DBus.Properties", "Set",
      [.string(Names.Daemon.readerSessionInterface), .string("Message"), .variant(.string("Hold it longer"))])
    #expect(await sheets.next()?.arguments.last?.asDictionary?["message"]?.asString == "Hold it longer")
    let stranger = await AgentDouble.errorName {
      _ = try await client.connection.call(
        Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "CancelReaderSession",
        [.objectPath(session)])
    }
    #expect(stranger == Names.Errors.notAuthorized)
    try await agent.call("CancelReaderSession", [.objectPath(session)])
    #expect(try await client.expect("Ended").first == .string("cancelled"))
    #expect(
      await sheets.next()?.arguments == [.objectPath(session), .string("cancelled"), .string("it was cancelled")])
    _ = try await rig.end()
    try await rig.scanning(true)
  }

  @Test func `a restarted agent shows the open session and cancels it`() async throws {
    let active = try await DaemonRig.inSession(["message": .string("Hold it")])
    let (rig, agent, client, session) = (active.rig, active.agent, active.client, active.session)
    // The agent dies. The daemon keeps the session while there is no agent.
    let name = try #require(await agent.connection.uniqueName)
    await agent.connection.close()
    try await rig.daemon.line(
      containing: "agent \(name) of \(LoginSessionKey(id: "2", uid: DaemonRig.session.uid)) is gone")
    let next = try await rig.agent()
    var sheets = next.sheets.makeAsyncIterator()
    let shown = try #require(await sheets.next())
    #expect(shown.member == "ShowReaderSession")
    #expect(shown.arguments.first == .objectPath(session))
    #expect(shown.arguments.last?.asDictionary?["message"]?.asString == "Hold it")
    try await next.call("CancelReaderSession", [.objectPath(session)])
    #expect(try await client.expect("Ended").first == .string("cancelled"))
    #expect(await sheets.next()?.member == "CloseReaderSession")
  }
}
