import Bus
import Glibc
import Names
import ReaderProtocol
import TestKit
import Testing

/// The real `tagrouted` on a station. The user of the tests is the station's user, or is not.
@Suite(.timeLimit(.minutes(5))) struct StationTests {
  /// The name of the user who runs the tests.
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

    // A name that does not exist changes nothing.
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
