import Bus
import NDEF
import Names
import TestKit
import Testing

@testable import AgentTests

@testable import Agent

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
