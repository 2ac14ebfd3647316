import Bus
import Glibc
import NDEF
import Names
import TagrouteClient
import TestKit
import Testing

@testable import Agent
@testable import AgentTests

/// The methods `ListInbox` and `Clear` of the real agent.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct InboxInterfaceTests {
  private func ids(_ rig: AgentRig, _ options: [String: Value]) async throws -> [String] {
    (try await rig.call("ListInbox", [.dictionary(options)]).first?.asArray ?? [])
      .compactMap { $0.asDictionary?["id"]?.asString }
  }

  private func clear(_ rig: AgentRig, _ options: [String: Value] = [:]) async throws -> UInt32? {
    try await rig.call("Clear", [.dictionary(options)]).first?.asUInt32
  }

  @Test func `ListInbox returns pages, finds taps by the start of an id, and has all details of one tap`() async throws
  {
    let rig = try await AgentRig.withAgent()
    for number in 0..<5 {
      try await rig.daemon.give(tapValues(number, message: try uriMessage("https://menu.example.com/\(number)")))
    }
    #expect(try await ids(rig, ["limit": .uint32(2)]) == [tapID(4), tapID(3)])
    #expect(try await ids(rig, ["limit": .uint32(2), "before": .string(tapID(3))]) == [tapID(2), tapID(1)])
    #expect(try await ids(rig, ["id-prefix": .string(tapID(1))]) == [tapID(1)])
    #expect(try await ids(rig, ["id-prefix": .string("01234567-"), "limit": .uint32(2)]) == [tapID(0), tapID(1)])
    // The list continues although a tap of the last page was removed.
    let page = try await rig.call("ListInbox", [.dictionary(["limit": .uint32(2)])]).first?.asArray ?? []
    let sequence = try #require(page.last?.asDictionary?["sequence"])
    #expect(try await clear(rig, ["ids": .strings([tapID(3)]), "from-screen": .boolean(true)]) == 1)
    #expect(try await ids(rig, ["limit": .uint32(2), "before-sequence": sequence]) == [tapID(2), tapID(1)])
    let tap = try await rig.tap(2)
    #expect(tap["technology"] == .string("type-2") && tap["uid"] == .bytes([4, 0, 0, 0, 0, 0, 2]))
    #expect(tap["reader"] == .string("/org/tagroute/Tagroute1/readers/0"))
    #expect(try #require(tap["state-time"]?.asUInt64) > 1_700_000_000_000_000)
  }

  @Test func `taps are found by text, states, app, technology and reader, and counted`() async throws {
    let rig = try await AgentRig.withAgent()
    for number in 0..<3 {
      try await rig.daemon.give(tapValues(number, message: try uriMessage("https://menu.example.com/\(number)")))
    }
    try await rig.daemon.give(tapValues(3, message: try uriMessage("javascript:1")))
    _ = try await rig.call("Dismiss", [.string(tapID(1))])
    let client = try AgentClient(rig.client)
    let table: [(InboxFilter, [Int])] = [
      (InboxFilter(), [3, 2, 1, 0]), (InboxFilter(text: "MENU.example.com/1"), [1]),
      (InboxFilter(states: ["failed", "dismissed"]), [3, 1]), (InboxFilter(states: ["dismissed"]), [1]),
      (InboxFilter(states: []), []), (InboxFilter(handler: HandlerStandIn.desktopID), [2, 1, 0]),
      (InboxFilter(technology: "type-4a"), []), (InboxFilter(technology: "type-2"), [3, 2, 1, 0]),
      (InboxFilter(reader: "/org/tagroute/Tagroute1/readers/0"), [3, 2, 1, 0]),
    ]
    for (filter, expected) in table {
      #expect(try await client.taps(filter).map(\.id) == expected.map(tapID), "\(filter)")
      #expect(try await client.count(filter) == UInt64(expected.count), "\(filter)")
    }
    #expect(try await client.taps(InboxFilter(text: "menu"), limit: 1, before: tapID(1)).map(\.id) == [tapID(0)])
    #expect(try await client.taps(InboxFilter(text: "/2"), withMessages: true).first?.uid == [4, 0, 0, 0, 0, 0, 2])
  }

  @Test func `ListInbox with messages returns as many taps as fit into a reply`() async throws {
    let rig = try await AgentRig.withAgent()
    let long = NDEFMessage(
      records: NDEFMessage.uri("https://menu.example.com/").records
        + [.wellKnown("T", payload: [2, 0x65, 0x6E] + [UInt8](repeating: 0x61, count: 1_000_000))])
    for number in 0..<6 { try await rig.daemon.give(tapValues(number, message: try long.encoded())) }
    var taps: [[String: Value]] = []
    var pages: [Int] = []
    var options: [String: Value] = ["messages": .boolean(true), "limit": .uint32(1000)]
    repeat {
      let page = (try await rig.call("ListInbox", [.dictionary(options)]).first?.asArray ?? []).compactMap(
        \.asDictionary)
      taps += page
      pages.append(page.count)
      options["before-sequence"] = page.last?["sequence"]
    } while pages.last != 0
    #expect(pages == [4, 2, 0])
    #expect(taps.map { $0["id"]?.asString } == (0..<6).reversed().map(tapID))
    #expect(taps.allSatisfy { $0["message"]?.asBytes == (try? long.encoded()) && $0["uid"] != nil })
  }

  static let mistakes: [(String, [String: Value], String)] = [
    ("ListInbox", ["before": .string("nobody")], Names.Errors.noSuchTap),
    ("ListInbox", ["before": .uint32(1)], Names.Errors.invalidArgument),
    ("ListInbox", ["before-sequence": .string("1")], Names.Errors.invalidArgument),
    ("ListInbox", ["messages": .string("yes")], Names.Errors.invalidArgument),
    ("ListInbox", ["id-prefix": .string("01"), "messages": .boolean(true)], Names.Errors.invalidArgument),
    ("ListInbox", ["state": .string("eaten")], Names.Errors.invalidArgument),
    ("ListInbox", ["states": .strings(["shown", "eaten"])], Names.Errors.invalidArgument),
    ("ListInbox", ["states": .string("shown")], Names.Errors.invalidArgument),
    ("ListInbox", ["state": .string("shown"), "states": .strings(["shown"])], Names.Errors.invalidArgument),
    ("ListInbox", ["text": .string("")], Names.Errors.invalidArgument),
    ("ListInbox", ["text": .string(String(repeating: "a", count: 257))], Names.Errors.invalidArgument),
    ("ListInbox", ["handler": .string("a/b")], Names.Errors.invalidArgument),
    ("ListInbox", ["reader": .uint32(1)], Names.Errors.invalidArgument),
    ("ListInbox", ["id-prefix": .string("01"), "text": .string("a")], Names.Errors.invalidArgument),
    ("CountInbox", ["states": .strings(["eaten"])], Names.Errors.invalidArgument),
    ("CountInbox", ["id-prefix": .string("01")], Names.Errors.invalidArgument),
    ("CountInbox", ["id": .string("01")], Names.Errors.invalidArgument),
    ("CountInbox", ["before": .string("nobody")], Names.Errors.noSuchTap),
    ("ListInbox", ["limit": .uint32(0)], Names.Errors.invalidArgument),
    ("ListInbox", ["id-prefix": .string("")], Names.Errors.invalidArgument),
    ("ListInbox", ["id-prefix": .string("0'; --")], Names.Errors.invalidArgument),
    ("ListInbox", ["id-prefix": .string("01%")], Names.Errors.invalidArgument),
    ("ListInbox", ["id-prefix": .string("01"), "state": .string("shown")], Names.Errors.invalidArgument),
    ("Clear", ["ids": .string("01")], Names.Errors.invalidArgument),
    ("Clear", ["ids": .strings(Array(repeating: "01", count: 501))], Names.Errors.invalidArgument),
    ("Clear", ["before": .string("yesterday")], Names.Errors.invalidArgument),
    ("Clear", ["from-screen": .string("no")], Names.Errors.invalidArgument),
    ("Clear", ["older-than": .uint32(7)], Names.Errors.invalidArgument),
  ]

  @Test func `invalid options are an error with its name, and no tap is removed`() async throws {
    let rig = try await AgentRig.withAgent()
    try await rig.daemon.give(tapValues(1, message: try uriMessage("javascript:1")))
    for (member, options, name) in Self.mistakes {
      let error = await #expect(throws: BusError.self) { try await rig.call(member, [.dictionary(options)]) }
      #expect(error?.name == name, "\(member) \(options): \(error?.message ?? "")")
    }
    #expect(try await ids(rig, [:]) == [tapID(1)])
  }

  @Test func `Clear removes finished taps, and others only on request, and each removal is announced`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    var shown: [UInt32] = []
    for number in 1...3 {
      try await rig.daemon.give(tapValues(number, message: try uriMessage("https://menu.example.com/\(number)")))
      shown.append(try await server.next().id)
    }
    _ = try await rig.call("Dismiss", [.string(tapID(1))])
    await rig.handler.set(.hangs)
    async let opening: [Value]? = try? await rig.call("Open", [.string(tapID(2)), .dictionary([:])])
    _ = try await rig.handler.next()
    let signals = try await rig.signals()
    #expect(try await clear(rig) == 1)
    #expect(try await ids(rig, [:]) == [tapID(3), tapID(2)])
    #expect(try await clear(rig) == 0)
    #expect(try await clear(rig, ["ids": .strings([tapID(3), tapID(2)])]) == 0)
    #expect(try await clear(rig, ["from-screen": .boolean(true), "before": .uint64(1)]) == 0)
    #expect(try await clear(rig, ["from-screen": .boolean(true)]) == 1)
    #expect(try await ids(rig, [:]) == [tapID(2)])
    #expect([try await server.nextClosed(), try await server.nextClosed(), try await server.nextClosed()] == shown)
    await rig.handler.answer()
    _ = await opening
    #expect(try await rig.state(2) == "delivered")
    #expect(try await clear(rig, ["ids": .strings([tapID(2), tapID(9)])]) == 1)

    var seen: [String] = []
    for await signal in signals {
      seen.append(
        ([signal.member] + signal.arguments.map { $0.asString ?? "\($0.asUInt32 ?? 0)" }).joined(separator: " "))
      if seen.count == 5 { break }
    }
    #expect(
      seen == [
        "TapsCleared 1", "TapClosed \(tapID(3)) dismissed", "TapsCleared 1", "TapClosed \(tapID(2)) delivered",
        "TapsCleared 1",
      ])
  }
}

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct OutgoingInterfaceTests {
  private static let file = "config/tagroute/mqtt.conf"

  private func take(_ rig: AgentRig, _ options: [String: Value] = [:]) async throws -> [[String: Value]] {
    (try await rig.call("TakeOutgoing", [.dictionary(options)]).first?.asArray ?? []).compactMap(\.asDictionary)
  }

  private func ids(_ rig: AgentRig, _ options: [String: Value] = [:]) async throws -> [String] {
    try await take(rig, options).compactMap { $0["id"]?.asString }
  }

  /// Gives a tap that is read now: at a start, the agent gives up taps that are older than the retention.
  private func give(_ number: Int, _ message: [UInt8], to rig: AgentRig) async throws {
    var values = tapValues(number, message: message)
    values["time"] = nil
    try await rig.daemon.give(values)
  }

  private func give(_ numbers: ClosedRange<Int>, to rig: AgentRig) async throws {
    for number in numbers { try await give(number, try uriMessage("https://menu.example.com/\(number)"), to: rig) }
  }

  private func outgoing(_ rig: AgentRig) async throws -> [String: Value] {
    try #require(try await rig.property("Outgoing")?.asDictionary)
  }

  @Test func `taps wait from the time when there is an mqtt conf, to the reload after it was removed`() async throws {
    let rig = try await AgentRig.withAgent()
    try await give(1...1, to: rig)
    #expect(try await outgoing(rig) == ["on": .boolean(false), "waiting": .uint32(0), "dropped": .uint64(0)])
    // The program that sends taps is started after the file was written.
    let file = try rig.installation.directory.write("", to: Self.file)
    #expect(try await ids(rig).isEmpty)
    try await give(2...2, to: rig)
    // No app gets this one.
    try await give(3, try uriMessage("javascript:1"), to: rig)
    let taps = try await take(rig)
    #expect(taps.map { $0["id"]?.asString } == [tapID(2), tapID(3)])
    let message = try uriMessage("https://menu.example.com/2")
    #expect(taps.first?["message"]?.asBytes == message)
    #expect(taps.first?["uid"]?.asBytes == [4, 0, 0, 0, 0, 0, 2] && taps.first?["technology"] == .string("type-2"))
    #expect(taps.allSatisfy { $0["sequence"]?.asUInt64 != nil && $0["reader"]?.asString?.isEmpty == false })
    let oldest = try #require(taps.first?["time"])
    #expect(
      try await outgoing(rig) == [
        "on": .boolean(true), "waiting": .uint32(2), "dropped": .uint64(0), "oldest": oldest,
      ])

    unlink(file)
    _ = try await rig.call("ReloadHandlers")
    try await give(4...4, to: rig)
    #expect(try await ids(rig) == [tapID(2), tapID(3)])
    #expect(try await outgoing(rig)["on"] == .boolean(false))
    try rig.installation.directory.write("", to: Self.file)
    _ = try await rig.call("Reload")
    try await give(5...5, to: rig)
    #expect(try await ids(rig) == [tapID(2), tapID(3), tapID(5)])
  }

  @Test func `each tap is announced after its commit, and waits over a crash until it is acknowledged`() async throws {
    let rig = try await AgentRig()
    try rig.installation.directory.write("", to: Self.file)
    try await rig.startAgent()
    let signals = try await rig.signals()
    let giving = Task { try await give(1...3, to: rig) }
    var announced = 0
    for await signal in signals where signal.member == "OutgoingAvailable" {
      #expect(signal.arguments.isEmpty)
      announced += 1
      #expect(try await ids(rig).count >= announced)
      if announced == 3 { break }
    }
    try await giving.value
    try await rig.restartAgent()
    #expect(try await ids(rig) == (1...3).map(tapID))
    #expect(try await ids(rig, ["limit": .uint32(2)]) == [tapID(1), tapID(2)])
    let first = try #require(try await take(rig, ["limit": .uint32(1)]).first?["sequence"])
    #expect(try await ids(rig, ["after-sequence": first]) == [tapID(2), tapID(3)])
    _ = try await rig.call("AcknowledgeOutgoing", [.strings([tapID(3), tapID(1), "nobody", tapID(9)])])
    #expect(try await ids(rig) == [tapID(2)])
    try await rig.restartAgent()
    #expect(try await ids(rig) == [tapID(2)])
    #expect(try await outgoing(rig)["waiting"] == .uint32(1))
    // The acknowledged taps are still in the inbox.
    #expect(try await rig.tap(1)["id"] == .string(tapID(1)))
  }

  @Test func `TakeOutgoing returns as many taps as fit into a reply`() async throws {
    let rig = try await AgentRig()
    try rig.installation.directory.write("", to: Self.file)
    try await rig.startAgent()
    let long = NDEFMessage(
      records: NDEFMessage.uri("https://menu.example.com/").records
        + [.wellKnown("T", payload: [2, 0x65, 0x6E] + [UInt8](repeating: 0x61, count: 1_000_000))])
    for number in 0..<6 { try await give(number, try long.encoded(), to: rig) }
    var seen: [String] = []
    var pages: [Int] = []
    var options: [String: Value] = ["limit": .uint32(5000)]
    repeat {
      let page = try await take(rig, options)
      pages.append(page.count)
      seen += page.compactMap { $0["id"]?.asString }
      options["after-sequence"] = page.last?["sequence"]
    } while pages.last != 0
    #expect(pages == [4, 2, 0])
    #expect(seen == (0..<6).map(tapID))
  }

  @Test func `invalid arguments are an error, and no tap is acknowledged`() async throws {
    let rig = try await AgentRig()
    try rig.installation.directory.write("", to: Self.file)
    try await rig.startAgent()
    try await give(1...1, to: rig)
    let options: [[String: Value]] = [
      ["limit": .uint32(0)], ["limit": .string("1")], ["after-sequence": .uint32(1)], ["after-sequence": .string("")],
    ]
    for option in options {
      let error = await #expect(throws: BusError.self) { try await take(rig, option) }
      #expect(error?.name == Names.Errors.invalidArgument, "\(option)")
    }
    let many = (0...500).map { _ in tapID(1) }
    let error = await #expect(throws: BusError.self) { try await rig.call("AcknowledgeOutgoing", [.strings(many)]) }
    #expect(error?.name == Names.Errors.invalidArgument)
    #expect(try await ids(rig) == [tapID(1)])
  }
}
