import Bus
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import DaemonTests

/// The real `tagrouted`: when its reader has the goal to scan.
@Suite(.timeLimit(.minutes(5))) struct GateTests {
  @Test func `an agent reports conditions, also with its registration`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    let changes = try await agent.connection.signals(
      MatchRule(sender: Names.Daemon.busName, path: ObjectPath(Names.Daemon.path), member: "PropertiesChanged"))
    try await agent.report(["locked": true])
    try await rig.scanning(false)
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["session-locked"])
    // The property changes when the reader process has reached the goal.
    for await _ in changes where try await agent.property("Scanning")?.asBool == false { break }
    try await agent.report([:])
    try await rig.scanning(true)
    try await agent.register(reporting: .booleans(["camera": true]))
    try await rig.scanning(false)
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["camera"])
    try await agent.register(reporting: .booleans([:]))
    try await rig.scanning(true)
    let error = await AgentDouble.errorName { try await agent.register(reporting: .string("locked")) }
    #expect(error == BusError.Name.invalidArguments)
    await agent.connection.close()
    try await rig.scanning(false)
  }

  @Test func `turning off returns once no reader scans, and fails if a reader does not stop in time`() async throws {
    let (rig, agent) = try await DaemonRig.scanning(allowing: [Names.PolkitAction.configure])
    try await rig.holdReader()
    #expect(await AgentDouble.errorName { try await agent.setEnabled(false) } == Names.Errors.notPossible)
    #expect(try await agent.property("Enabled")?.asBool == false)
    #expect(try await agent.property("Scanning")?.asBool == true)
    try await agent.setEnabled(true)
    let changes = try await agent.connection.signals(
      MatchRule(sender: Names.Daemon.busName, path: ObjectPath(Names.Daemon.path), member: "PropertiesChanged"))
    // The reader reaches its goal after the daemon has received the next call.
    async let off: Void = agent.setEnabled(false)
    for await _ in changes where try await agent.property("Enabled")?.asBool == false { break }
    await rig.reader.catchesUp()
    try await off
    #expect(try await agent.property("Scanning")?.asBool == false)
  }

  @Test func `turning off takes effect even if it cannot be stored`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    let polkit = try await PolkitStandIn.start(
      on: BusAddress(rig.bus.address), allowing: [Names.PolkitAction.configure])
    // A file takes the place of the state directory.
    try rig.directory.write("", to: "state")
    #expect(await AgentDouble.errorName { try await agent.setEnabled(false) } == Names.Errors.failed)
    try await rig.scanning(false)
    #expect(try await agent.property("Enabled")?.asBool == false)
    // The daemon turns on only if it can store that.
    #expect(await AgentDouble.errorName { try await agent.setEnabled(true) } == Names.Errors.failed)
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["disabled"])
    await polkit.stop()
  }
}

/// The real `tagrouted`: which callers can inhibit scanning, and for how long.
@Suite(.timeLimit(.minutes(5))) struct InhibitorTests {
  @Test func `an inhibitor stops scanning while its pipe is open`() async throws {
    let rig = try await DaemonRig(allowing: DaemonRig.clientActions)
    let agent = try await rig.startScanning()
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

  @Test func `an inhibitor needs the permission of polkit`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    let inhibit: @Sendable () async throws -> Void = { try await agent.call("Inhibit", [.string("a"), .string("b")]) }
    #expect(await AgentDouble.errorName(inhibit) == Names.Errors.notAuthorized)
    let polkit = try await PolkitStandIn.start(
      on: BusAddress(rig.bus.address), allowing: [Names.PolkitAction.configure, Names.PolkitAction.writeTags])
    #expect(await AgentDouble.errorName(inhibit) == Names.Errors.notAuthorized)
    #expect(await polkit.questions.map(\.action) == [Names.PolkitAction.inhibit])
    #expect(await polkit.questions.map(\.subject) == [await agent.connection.uniqueName])
    #expect(try await agent.property("SuspendReasons")?.asStrings == [])
    #expect(try await agent.call("ListInhibitors").first?.asArray?.isEmpty == true)
    await polkit.stop()
  }

  @Test func `a caller cannot ask again while polkit has not replied`() async throws {
    let rig = try await DaemonRig(allowing: DaemonRig.clientActions)
    let polkit = try #require(rig.polkit)
    let agent = try await rig.agent()
    await polkit.fallSilent()
    async let first = agent.call("Inhibit", [.string("a"), .string("b")])
    for await _ in polkit.asked { break }
    let second = await AgentDouble.errorName { try await agent.call("Inhibit", [.string("a"), .string("b")]) }
    #expect(second == Names.Errors.tooMany)
    await polkit.fallSilent(false)
    #expect(try await first.first?.asUnixFD != nil)
  }
}

/// The real `tagrouted` and a machine that goes to sleep.
@Suite(.timeLimit(.minutes(5))) struct SleepTests {
  @Test func `the machine sleeps only once the field is off`() async throws {
    let rig = try await DaemonRig()
    let logind = try #require(rig.logind)
    let agent = try await rig.startScanning()
    await logind.untilHeld(1)
    let lock = try #require(await logind.locks.first)
    #expect((lock.what, lock.who, lock.mode) == ("sleep", "Tagroute", "delay"))

    await rig.reader.answersOrders(false)
    // Once this line is in the log, the daemon has handled all earlier messages of the reader.
    await rig.reader.send(.log(.notice, "the field is on"))
    try await rig.daemon.line(containing: "the field is on")
    try await logind.prepareForSleep(true)
    try await rig.scanning(false)
    // The reader has received the goal, but has not reported that its field is off.
    await rig.reader.send(.log(.notice, "the field is still on"))
    try await rig.daemon.line(containing: "the field is still on")
    #expect(await logind.locks.count == 1)
    await rig.reader.reach()
    await logind.untilHeld(0)

    await rig.reader.answersOrders(true)
    try await logind.prepareForSleep(false)
    try await rig.scanning(true)
    await logind.untilHeld(1)
    await agent.connection.close()
  }

  @Test func `the daemon takes a new sleep lock after a restart of logind`() async throws {
    let rig = try await DaemonRig()
    let logind = try #require(rig.logind)
    await logind.untilHeld(1)
    try await logind.restart()
    await logind.untilGiven(2)
    await logind.untilHeld(1)
  }
}

/// The real `tagrouted` and the rfkill switches of the machine's radios.
@Suite(.timeLimit(.minutes(5))) struct AirplaneTests {
  /// A `struct rfkill_event` (linux/rfkill.h) about a Bluetooth switch.
  private static func event(_ index: UInt8, _ operation: UInt8, isBlocked: Bool) -> [UInt8] {
    (UInt16(littleEndian: 1) == 1 ? [index, 0, 0, 0] : [0, 0, 0, index]) + [2, operation, isBlocked ? 1 : 0, 0]
  }

  @Test func `scanning stops while every radio is off`() async throws {
    let devices = try TemporaryDirectory()
    #expect(mkfifo(devices.file("rfkill"), 0o600) == 0)
    // Open for reading and writing, so that the daemon never reads an end of file.
    let writer = FileDescriptor(owning: open(devices.file("rfkill"), O_RDWR | O_CLOEXEC))
    func say(_ bytes: [UInt8]) { #expect(write(writer.rawValue, bytes, bytes.count) == bytes.count) }
    say(Self.event(0, 0, isBlocked: true) + Self.event(1, 0, isBlocked: false))
    let rig = try await DaemonRig(environment: ["TAGROUTE_DEV": devices.path])
    let agent = try await rig.startScanning()
    say(Self.event(1, 2, isBlocked: true))
    try await rig.scanning(false)
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["airplane-mode"])
    // The agent's report does not override the radio switches.
    try await agent.report(["airplane-mode": false])
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["airplane-mode"])
    say(Self.event(0, 1, isBlocked: true) + Self.event(1, 2, isBlocked: false))
    try await rig.scanning(true)
  }
}

/// The real `tagrouted`: the scan conditions change hundreds of times while its reader is busy.
@Suite(.timeLimit(.minutes(5))) struct BusyReaderTests {
  enum End: CaseIterable { case answer, death }

  @Test(arguments: End.allCases)
  func `scanning resumes once a busy reader process replies or dies`(end: End) async throws {
    let rig = try await DaemonRig(starter: "`scanning resumes once a busy reader process replies or dies`_\(end)")
    let agent = try await rig.startScanning()
    try await rig.holdReader()
    try await agent.report(["display-off": true])
    try await rig.scanning(false)
    // More reports than the number of events that the daemon buffers for a reader process.
    try await agent.report((0..<300).map { ["display-off": !$0.isMultiple(of: 2)] } + [[:]])
    switch end {
    case .answer: await rig.reader.catchesUp()
    case .death:
      await rig.reader.answersOrders(true)
      for child in try rig.daemon.children() { child.signal(SIGKILL) }
      try await rig.daemon.line(containing: "ended: killed by signal 9")
      await rig.reader.becomeReady()
    }
    try await rig.scanning(true)
    await rig.reader.tap(.message(Samples.message))
    #expect(try await agent.taps.nextMessage() == Samples.message)
  }
}
