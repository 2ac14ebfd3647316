import Bus
import EventLoop
import Presence
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct PolkitAuthorityTests {
  private let loop = EventLoop(label: "polkit-test")

  /// A polkit that allows `action` if it is asked about the caller's bus name, and refuses everything else.
  private func polkit(on bus: PrivateBus, allows action: String, answer: Signature = "(bba{ss})") async throws
    -> Connection
  {
    let connection = try await Connection.open(BusAddress(bus.address), on: loop)
    let method = ExportedMethod(
      "CheckAuthorization",
      in: [
        Argument("subject", "(sa{sv})"), Argument("action", "s"), Argument("details", "a{ss}"), Argument("flags", "u"),
        Argument("cancellation", "s"),
      ], out: [Argument("result", answer)]
    ) { _, call in
      guard answer == "(bba{ss})" else { return [.boolean(true)] }
      let subject = call.arguments[0].asStructure
      let isAllowed =
        call.arguments[1].asString == action && subject?.first?.asString == "system-bus-name"
        && subject?.last?.asDictionary?["name"]?.asString == call.sender
      return [.structure([.boolean(isAllowed), .boolean(false), .dictionary(key: "s", value: "s", [])])]
    }
    let authority = ExportedInterface(
      "org.freedesktop.PolicyKit1.Authority", methods: [method], properties: [], signals: [])
    try await connection.export([authority], at: "/org/freedesktop/PolicyKit1/Authority")
    try await connection.standIn(for: "org.freedesktop.PolicyKit1")
    return connection
  }

  @Test func `polkit is asked about the bus name of the caller`() async throws {
    let bus = try await PrivateBus.start(type: "system")
    let polkit = try await polkit(on: bus, allows: "org.example.paint")
    let connection = try await Connection.open(BusAddress(bus.address), on: loop)
    let authority = PolkitAuthority(connection)
    let name = try #require(await connection.uniqueName)
    #expect(await authority.check(name, "org.example.paint") == .allowed)
    #expect(
      await authority.check(name, "org.example.erase")
        == .refused(reason: "polkit does not allow org.example.erase"))
    #expect(await authority.check(":1.99", "org.example.paint") != .allowed)
    await polkit.close()
  }

  @Test func `without polkit every action is refused`() async throws {
    let bus = try await PrivateBus.start(type: "system")
    let connection = try await Connection.open(BusAddress(bus.address), on: loop)
    guard case .unavailable(let reason) = await PolkitAuthority(connection).check(":1.1", "org.example.paint") else {
      throw RigError("the action was allowed")
    }
    #expect(reason.hasPrefix("polkit could not be asked about org.example.paint: "))
  }

  @Test func `a reply of another type is not a permission`() async throws {
    let bus = try await PrivateBus.start(type: "system")
    let polkit = try await polkit(on: bus, allows: "org.example.paint", answer: "b")
    let connection = try await Connection.open(BusAddress(bus.address), on: loop)
    #expect(await PolkitAuthority(connection).check(":1.1", "org.example.paint") != .allowed)
    await polkit.close()
  }
}
