import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

/// `tagroute on` and `tagroute off`.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SwitchTests {
  @Test func `tagroute on and off need a polkit permission and last across a daemon restart`() async throws {
    let desktop = try await Desktop()
    let installation = desktop.installation
    #expect(try await installation.tagroute("off").status == .exited(Names.ExitCode.unavailable))
    try await desktop.startScanning()
    let refused = try await installation.tagroute("off")
    #expect(refused.status == .exited(Names.ExitCode.notAllowed))
    #expect(refused.log.contains { $0.contains("switch scanning off") })
    try await desktop.status(\.scanning)

    _ = try await PolkitStandIn.start(on: desktop.systemBus, allowing: [Names.PolkitAction.configure])
    #expect(try await installation.output("off") == "scanning is off\n")
    try await desktop.status { !$0.scanning && !$0.enabled && $0.suspendReasons == ["disabled"] }
    #expect(try await installation.output("status").contains("not scanning: switched off"))
    let counters = try await desktop.installation.simulate("counters")
    #expect(counters.contains("field=off"))

    try await desktop.daemon.exit(after: SIGKILL)
    try await desktop.installation.startDaemon()
    try await desktop.daemon.line(containing: Desktop.readerReady)
    try await desktop.status { !$0.enabled && $0.suspendReasons.contains("disabled") }
    #expect(try await installation.object("on")["enabled"] as? Bool == true)
    try await desktop.status(\.scanning)
  }
}
