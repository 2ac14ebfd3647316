import Glibc
import Names
import TagrouteClient
import TestRig
import Testing

/// `tagroute on` and `tagroute off`.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SwitchTests {
  private func tagroute(_ desktop: Desktop, _ arguments: String...) async throws -> (Int32, String) {
    let process = try await desktop.installation.start("tagroute", arguments)
    guard case .exited(let code) = try await process.exit() else { throw RigError("a signal ended tagroute") }
    return (code, await process.log().joined(separator: "\n"))
  }

  @Test func `tagroute on and off need a polkit permission and last across a daemon restart`() async throws {
    let desktop = try await Desktop()
    let (unreachable, _) = try await tagroute(desktop, "off")
    #expect(unreachable == Names.ExitCode.unavailable)
    try await desktop.startScanning()
    let (refused, words) = try await tagroute(desktop, "off")
    #expect(refused == Names.ExitCode.notAllowed)
    #expect(words.contains("switch scanning off"))
    try await desktop.status(\.scanning)

    _ = try await PolkitStandIn.start(on: desktop.systemBus, allowing: [Names.PolkitAction.configure])
    #expect(try await tagroute(desktop, "off") == (0, "scanning is off"))
    try await desktop.status { !$0.scanning && !$0.enabled && $0.suspendReasons == ["disabled"] }
    let (_, status) = try await tagroute(desktop, "status")
    #expect(status.contains("not scanning: switched off"))
    let counters = try await desktop.installation.simulate("counters")
    #expect(counters.contains("field=off"))

    try await desktop.daemon.exit(after: SIGKILL)
    try await desktop.installation.startDaemon()
    try await desktop.daemon.line(containing: Desktop.readerReady)
    try await desktop.status { !$0.enabled && $0.suspendReasons.contains("disabled") }
    let (code, json) = try await tagroute(desktop, "on", "--json")
    #expect(code == 0)
    #expect(json.contains("\"enabled\" : true"))
    try await desktop.status(\.scanning)
  }
}
