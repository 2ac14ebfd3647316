import Bus
import Glibc
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import DaemonTests

/// The real `tagrouted`: each tap arrives at the right agent.
@Suite(.timeLimit(.minutes(5))) struct DeliveryTests {
  @Test func `a tap that was not stored is sent again under the same id`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    await agent.fail(with: BusError(name: Names.Errors.failed, message: "no room"))
    await rig.reader.tap(.message(Samples.message))
    let id = try #require(try await agent.taps.next()["id"])
    #expect(try await agent.taps.next()["id"] == id)
  }

  @Test func `a tag with a problem is logged once, and the next tag works`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    await rig.reader.tap(.problem(reason: "the NDEF file is truncated"), number: 1)
    try await rig.daemon.line(containing: "the NDEF file is truncated")
    await rig.reader.tap(.message(Samples.message), number: 2)
    let tap = try await agent.taps.next()
    #expect(tap["message"]?.asBytes == Samples.message)
    #expect(tap["technology"]?.asString == "type-2")
    #expect(tap["uid"]?.asBytes == [4, 1, 2, 3, 4, 5, 6])
    #expect(tap["reader"]?.asObjectPath?.string == "\(Names.Daemon.readersPath)/0")
    #expect(tap["id"]?.asString?.utf8.count == 36)
    #expect(await rig.daemon.log().filter { $0.contains("truncated") }.count == 1)
    #expect(await rig.daemon.log().allSatisfy { !$0.contains("example.com") })
  }

  @Test func `only a local session can have an agent, and only one`() async throws {
    var remote = DaemonRig.session
    remote.isRemote = true
    let rig = try await DaemonRig(sessions: [remote])
    let agent = try await AgentDouble(on: rig.bus)
    #expect(await AgentDouble.errorName { try await agent.register() } == Names.Errors.notASession)
    #expect(await AgentDouble.errorName { try await agent.report(["locked": true]) } == Names.Errors.notAuthorized)
    var local = DaemonRig.session
    local.id = "3"
    try await rig.logind?.add(local)
    try await agent.register()
    try await agent.register()
    let second = try await AgentDouble(on: rig.bus)
    #expect(await AgentDouble.errorName { try await second.register() } == Names.Errors.alreadyRegistered)
  }

  @Test func `the daemon works again after a restart of the bus`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    try await rig.bus.restart()
    try await rig.scanning(false)
    for await owner in try await agent.connection.owners(of: Names.Daemon.busName) where owner != nil { break }
    try await agent.register()
    try await rig.scanning(true)
    await rig.reader.tap(.message(Samples.message))
    #expect(try await agent.taps.nextMessage() == Samples.message)
  }
}

/// The real `tagrouted` on a station. The user of the tests is the station's user, or is not.
@Suite(.timeLimit(.minutes(5))) struct StationTests {
  /// The name of the user of this process.
  private static func ownName() throws -> String {
    let entry = try #require(getpwuid(getuid()), "the user of the tests has no name")
    return String(cString: entry.pointee.pw_name)
  }

  @Test(.enabled(if: getuid() != 65_534, "the tests run as nobody"))
  func `another user cannot claim to be the station, and a reload changes the station`() async throws {
    let rig = try await DaemonRig(sessions: [], scan: ["StationUser=nobody"])
    let agent = try await AgentDouble(on: rig.bus)
    // The bus vouches for the user of a process, and a caller cannot name another one.
    #expect(await AgentDouble.errorName { try await agent.register() } == Names.Errors.notASession)
    #expect(try await agent.property("StationUser")?.asString == "nobody")

    let isRead = "the configuration was read again: changed: StationUser"
    try rig.configure("StationUser=\(try Self.ownName())")
    try await rig.daemon.line(containing: isRead)
    try await agent.register()
    try await rig.scanning(true)
    await rig.reader.tap(.message(link("one.example")), number: 1)
    #expect(try await agent.taps.nextMessage() == link("one.example"))

    // A name that does not exist has no effect.
    try rig.configure("StationUser=no-such-user-here")
    try await rig.daemon.line(
      containing: "tagroute.conf:5: StationUser=no-such-user-here is no user of this machine: correct the name")
    #expect(try await agent.property("StationUser")?.asString == Self.ownName())
    #expect(try await agent.property("ConfigurationError")?.asString?.contains("no-such-user-here") == true)

    try rig.configure("")
    try await rig.scanning(false)
    #expect(try await agent.property("StationUser")?.asString == "")
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["no-agent", "no-session"])
  }
}

extension DaemonRig {
  /// Replaces the configuration and makes the daemon read it.
  fileprivate func configure(_ line: String) throws {
    try directory.write(
      "[Reader]\nDevices=pn532_uart:/dev/scripted\n[Scan]\nSessions=logind\n\(line)\n", to: "tagroute.conf")
    daemon.signal(SIGHUP)
  }
}

/// The real `tagrouted`: the daemon drops tags that are read while the goal to stop is on its way to the reader.
@Suite(.timeLimit(.minutes(5))) struct WindowTests {
  /// Whether the lock ends before or after the reader stops.
  private enum Order: CaseIterable { case readerFirst, lockFirst }

  @Test(arguments: Order.allCases)
  private func `a tag read between a lock and the stop of the reader is dropped`(order: Order) async throws {
    let (rig, agent) = try await DaemonRig.scanning(
      starter: "`a tag read between a lock and the stop of the reader is dropped`_\(order)")
    let logind = try #require(rig.logind)
    try await rig.holdReader()
    try await logind.update("2") { $0.isLocked = true }
    try await rig.scanning(false)
    switch order {
    case .readerFirst:
      await rig.reader.tap(.message(Samples.message), number: 1)
      await rig.reader.reach()
      try await rig.daemon.line(containing: "ignored a late tag")
      await rig.reader.answersOrders(true)
      try await logind.update("2") { $0.isLocked = false }
    case .lockFirst:
      let seen = await rig.daemon.log().count
      try await logind.update("2") { $0.isLocked = false }
      try await rig.daemon.line(containing: "): scanning", after: seen)
      await rig.reader.tap(.message(Samples.message), number: 1)
      try await rig.daemon.line(containing: "the reader was still stopping")
      await rig.reader.answersOrders(true)
      await rig.reader.reach()
    }
    try await rig.scanning(true)
    await rig.reader.tap(.message(link("example.net")), number: 2)
    #expect(try await agent.taps.nextMessage() == link("example.net"))
  }
}
