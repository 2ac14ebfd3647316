import Foundation
import Glibc
import Names
import TagrouteClient
import TestSupport
import Testing

/// `tagroute doctor` where everything is as it should be, and where one thing is broken.
@Suite(.timeLimit(.minutes(5))) struct DoctorTests {
  private struct Finding: Decodable, Hashable {
    let subject: String
    let verdict: String
    let text: String
    let remedy: String?
  }

  private func findings(
    _ desktop: Desktop, without variable: String? = nil
  ) async throws -> (status: ChildProcess.ExitStatus, findings: [Finding]) {
    var environment = desktop.installation.environment
    if let variable { environment[variable] = "unix:path=\(desktop.installation.directory.file("nobody"))" }
    let result = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), ["doctor", "--json"], environment: environment)
    return (result.status, try JSONDecoder().decode([Finding].self, from: Data(result.output.utf8)))
  }

  /// What is wrong, by subject.
  private func wrong(_ desktop: Desktop, without variable: String? = nil) async throws -> [String: Finding] {
    let (status, findings) = try await findings(desktop, without: variable)
    let wrong = findings.filter { $0.verdict == "wrong" }
    #expect(status == .exited(wrong.isEmpty ? 0 : 1))
    for finding in wrong { #expect(finding.remedy?.isEmpty == false, "\(finding)") }
    return Dictionary(wrong.map { ($0.subject, $0) }) { first, _ in first }
  }

  private static let actions: Set<String> = [
    Names.PolkitAction.configure, Names.PolkitAction.inhibit, Names.PolkitAction.readTags,
    Names.PolkitAction.writeTags,
  ]

  /// Everything there and in order.
  private func sound(starter: String = #function) async throws -> (
    Desktop, NotificationServerStandIn, PolkitStandIn
  ) {
    let desktop = try await Desktop(starter: starter)
    let polkit = try await PolkitStandIn.start(on: desktop.systemBus, allowing: Self.actions)
    let server = try await desktop.startServer()
    try await desktop.start()
    try await desktop.status(\.scanning)
    return (desktop, server, polkit)
  }

  @Test func `where all is well it says so of each thing, and ends with 0`() async throws {
    let (desktop, server, polkit) = try await sound()
    defer { withExtendedLifetime((server, polkit)) {} }
    let (status, findings) = try await findings(desktop)
    #expect(status == .exited(0))
    #expect(findings.filter { $0.verdict != "right" }.isEmpty, "\(findings)")
    #expect(
      findings.map(\.subject) == [
        "system-bus", "configuration", "daemon", "polkit", "kernel-module", "reader", "session-bus", "agent",
        "notifications", "handlers", "scanning",
      ])
    let text = try await desktop.installation.start("tagroute", ["doctor"])
    #expect(try await text.exit() == .exited(0))
    #expect(await text.log().count == findings.count)
    #expect(await text.log().last == "right  scanning: tags are looked for")
    await desktop.stop()
  }

  @Test func `each thing of the machine that is broken is named`() async throws {
    let (desktop, server, polkit) = try await sound()
    defer { withExtendedLifetime(server) {} }
    let directory = desktop.installation.directory

    mkdir(directory.file("sys/module"), 0o700)
    mkdir(directory.file("sys/module/pn533_usb"), 0o700)
    #expect(try await wrong(desktop)["kernel-module"]?.remedy?.contains("modprobe -r pn533_usb") == true)
    rmdir(directory.file("sys/module/pn533_usb"))

    for folder in ["run", "run/pcscd"] { mkdir(directory.file(folder), 0o700) }
    _ = try directory.write("", to: "run/pcscd/pcscd.comm")
    #expect(try await findings(desktop).findings.contains { $0.subject == "pcscd" && $0.verdict == "note" })
    unlink(directory.file("run/pcscd/pcscd.comm"))

    await polkit.allow([Names.PolkitAction.configure])
    #expect(try await wrong(desktop)["polkit"]?.text.contains(Names.PolkitAction.writeTags) == true)
    await polkit.stop()
    #expect(try await wrong(desktop).keys.sorted() == ["polkit"])

    try await desktop.simulator.signal(SIGKILL)
    try await desktop.status { !$0.scanning }
    #expect(try await wrong(desktop)["reader"] != nil)

    try await desktop.daemon.signal(SIGKILL)
    try await desktop.daemon.exit()
    #expect(try await wrong(desktop)["daemon"]?.remedy == "sudo systemctl enable --now tagrouted.service")
    #expect(
      try await wrong(desktop, without: "DBUS_SYSTEM_BUS_ADDRESS").keys.sorted() == ["system-bus"])
    await desktop.stop()
  }

  @Test func `each thing of the session that is broken is named`() async throws {
    let (desktop, server, polkit) = try await sound()
    defer { withExtendedLifetime(polkit) {} }
    let directory = desktop.installation.directory

    _ = try directory.write(
      "[Desktop Entry]\nType=Application\nName=X\nImplements=org.tagroute.Handler1;\n",
      to: "share/applications/x.desktop")
    let broken = try await wrong(desktop)
    #expect(broken.keys.sorted() == ["handlers"])
    #expect(broken["handlers"]?.text.hasPrefix(directory.file("share/applications/x.desktop")) == true)
    unlink(directory.file("share/applications/x.desktop"))

    mkdir(directory.file("config/tagroute"), 0o700)
    _ = try directory.write("[Inbox]\nInbox=perhaps\n", to: "config/tagroute/agent.conf")
    #expect(try await wrong(desktop)["agent-configuration"]?.text.contains("agent.conf:2") == true)
    unlink(directory.file("config/tagroute/agent.conf"))

    await server.setCapabilities(["body"])
    #expect(try await wrong(desktop).keys.sorted() == ["notifications"])
    await server.stop()
    #expect(try await wrong(desktop)["notifications"]?.text.contains("nobody shows") == true)

    try await desktop.agent.signal(SIGKILL)
    try await desktop.agent.exit()
    let alone = try await wrong(desktop)
    #expect(alone["agent"]?.text == "no agent runs in this session")
    #expect(try await wrong(desktop, without: "DBUS_SESSION_BUS_ADDRESS").keys.contains("session-bus"))
    await desktop.stop()
  }
}
