import Bus
import Glibc
import NDEF
import Names
import TestKit
import Testing

@testable import AgentTests

@testable import Agent

/// The outbox of the real agent.
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
