import Bus
import EventLoop
import Names
import ReaderLink
import TestSupport
import Testing

/// The real `tagrouted`: when it tells its reader to scan.
@Suite(.timeLimit(.minutes(5))) struct GateTests {
  @Test func aLockStopsTheScanAndAnUnlockingStartsIt() async throws {
    let rig = try await DaemonRig()
    let agent = try await rig.agent()
    try await rig.scanning(true)
    try await rig.logind?.update("2") { $0.isLocked = true }
    try await rig.scanning(false)
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["session-locked"])
    #expect(try await agent.property("Scanning")?.asBool == false)
    try await rig.logind?.update("2") { $0.isLocked = false }
    try await rig.scanning(true)
    #expect(try await agent.property("SuspendReasons")?.asStrings == [])
  }

  @Test func sleepAndAnotherUserAndTheAgentsEndStopTheScan() async throws {
    let rig = try await DaemonRig()
    let agent = try await rig.agent()
    try await rig.scanning(true)
    try await rig.logind?.prepareForSleep(true)
    try await rig.scanning(false)
    try await rig.logind?.prepareForSleep(false)
    try await rig.scanning(true)
    try await rig.logind?.update("2") { $0.isActive = false }
    try await rig.scanning(false)
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["session-inactive"])
    try await rig.logind?.update("2") { $0.isActive = true }
    try await rig.scanning(true)
    await agent.connection.close()
    try await rig.scanning(false)
  }

  @Test func whatTheAgentReportsStopsTheScan() async throws {
    let rig = try await DaemonRig()
    let agent = try await rig.agent()
    try await rig.scanning(true)
    for (name, reason) in [("locked", "session-locked"), ("display-off", "display-off"), ("camera", "camera")] {
      try await agent.report([name: true])
      try await rig.scanning(false)
      #expect(try await agent.property("SuspendReasons")?.asStrings == [reason])
      try await agent.report([name: false])
      try await rig.scanning(true)
    }
  }

  @Test func anInhibitorStopsTheScanAsLongAsItsPipeIsOpen() async throws {
    let rig = try await DaemonRig()
    let agent = try await rig.agent()
    try await rig.scanning(true)
    do {
      let reply = try await agent.call("Inhibit", [.string("nfc-list"), .string("a look at the reader")])
      try await rig.scanning(false)
      #expect(reply.first?.asUnixFD != nil)
      let list = try await agent.call("ListInhibitors")
      let entry = try #require(list.first?.asArray?.first?.asStructure)
      #expect(entry[0].asString == "nfc-list")
      #expect(entry[1].asString == "a look at the reader")
      #expect(entry[2].asUInt32 == DaemonRig.session.uid)
      #expect(try await agent.property("SuspendReasons")?.asStrings == ["inhibited"])
    }
    try await rig.scanning(true)
    #expect(try await agent.call("ListInhibitors").first?.asArray?.isEmpty == true)
  }

  @Test func anInhibitorNeedsAName() async throws {
    let rig = try await DaemonRig()
    let agent = try await rig.agent()
    let name = await AgentDouble.errorName { try await agent.call("Inhibit", [.string(""), .string("why")]) }
    #expect(name == Names.Errors.invalidArgument)
  }

  @Test func theMasterSwitchNeedsPolkitAndIsRemembered() async throws {
    var rig = try await DaemonRig()
    let agent = try await rig.agent()
    try await rig.scanning(true)
    #expect(await AgentDouble.errorName { try await agent.setEnabled(false) } == Names.Errors.notAuthorized)
    #expect(try await agent.property("Enabled")?.asBool == true)
    let polkit = try await polkit(on: rig.bus)
    try await agent.setEnabled(false)
    try await rig.scanning(false)
    try await rig.restartDaemon()
    #expect(try await agent.property("Enabled")?.asBool == false)
    #expect(try await agent.property("SuspendReasons")?.asStrings?.contains("disabled") == true)
    try await agent.setEnabled(true)
    #expect(try await agent.property("Enabled")?.asBool == true)
    await polkit.close()
  }

  /// A polkit that allows whoever asks to configure, and nothing else.
  private func polkit(on bus: PrivateBus) async throws -> Connection {
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "polkit"))
    let input = ["(sa{sv})", "s", "a{ss}", "u", "s"].enumerated().map { Argument("a\($0.offset)", $0.element) }
    let check = ExportedMethod("CheckAuthorization", in: input, out: [Argument("result", "(bba{ss})")]) { call in
      let isAllowed = call.arguments[1].asString == Names.PolkitAction.configure
      return [.structure([.boolean(isAllowed), .boolean(false), .dictionary(key: "s", value: "s", [])])]
    }
    try await connection.export(
      [ExportedInterface("org.freedesktop.PolicyKit1.Authority", methods: [check])],
      at: "/org/freedesktop/PolicyKit1/Authority")
    _ = try await connection.requestName("org.freedesktop.PolicyKit1")
    return connection
  }
}
