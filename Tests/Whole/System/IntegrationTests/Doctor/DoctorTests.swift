import EventLoop
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

/// `tagroute doctor` on a desktop without problems, and with one problem at a time.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct DoctorTests {
  /// Starts a desktop without problems, and stand-ins for both managers of systemd with active units.
  private func withSystemd(starter: String = #function) async throws -> (
    Desktop, system: SystemdStandIn, user: SystemdStandIn
  ) {
    let (desktop, _, _) = try await Desktop.sound(starter: starter)
    let system = try await SystemdStandIn.start(on: desktop.installation.systemBus.address)
    try await system.setUnit("tagrouted.service")
    let user = try await SystemdStandIn.start(on: try #require(desktop.installation.sessionBus).address)
    try await user.setUnit("tagroute-agent.service")
    try await user.setUnit("graphical-session.target")
    return (desktop, system, user)
  }

  @Test func `without problems all findings are right and the exit code is 0`() async throws {
    let (desktop, _, _) = try await Desktop.sound()
    let (status, findings) = try await desktop.findings()
    #expect(status == .exited(0))
    #expect(findings.filter { $0.verdict != "right" }.isEmpty, "\(findings)")
    #expect(
      findings.map(\.subject) == [
        "versions", "system-bus", "configuration", "policy", "daemon", "polkit", "kernel-module", "reader",
        "session-bus",
        "agent-configuration", "agent", "notifications", "handlers", "scanning",
      ])
    let directory = desktop.installation.directory
    #expect(try findings[0].text.contains(Regex("^tagroute [0-9.]+, libnfc [0-9][^ ]*, Linux ")), "\(findings[0].text)")
    #expect(findings[2].text == "\(directory.file("tagroute.conf")) has no errors; tagrouted was started with it")
    #expect(findings[9].text == "\(directory.file("agent.conf")) has no errors; tagroute-agent was started with it")
    let lines = try await desktop.installation.output("doctor").split(separator: "\n")
    #expect(lines.count == findings.count && lines.last == "right  scanning: the readers scan for tags")
  }

  @Test func `each problem of the machine is reported`() async throws {
    let (desktop, _, polkit) = try await Desktop.sound()
    let directory = desktop.installation.directory

    mkdir(directory.file("sys/module"), 0o700)
    mkdir(directory.file("sys/module/pn533_usb"), 0o700)
    #expect(try await desktop.wrong()["kernel-module"]?.remedy?.contains("modprobe -r pn533_usb") == true)
    rmdir(directory.file("sys/module/pn533_usb"))

    // pcscd alone is none.
    for folder in ["run", "run/pcscd"] { mkdir(directory.file(folder), 0o700) }
    _ = try directory.write("", to: "run/pcscd/pcscd.comm")
    #expect(try await !desktop.findings().findings.contains { $0.subject == "pcscd" })
    unlink(directory.file("run/pcscd/pcscd.comm"))

    await polkit.allow([Names.PolkitAction.configure])
    #expect(try await desktop.wrong()["polkit"]?.text.contains(Names.PolkitAction.writeTags) == true)
    await polkit.stop()
    #expect(try await desktop.wrong().keys.sorted() == ["polkit"])

    // It takes its link with it. A link that stays could lead to a terminal that another test has opened meanwhile.
    try await desktop.simulator.exit(after: SIGTERM)
    // The reader fails first, and is absent at the next attempt.
    try await desktop.status { $0.readers.first?.state == "absent" }
    let absent = try await desktop.wrong()["reader"]
    #expect(
      absent?.remedy == "plug it in, or change Devices= below [Reader] in \(directory.file("tagroute.conf"))",
      "\(String(describing: absent))")

    try await desktop.daemon.exit(after: SIGKILL)
    // The programs come from a build, and there is no systemd that could start them.
    let starting = "sudo -u tagroute \(try BuiltProducts.program("tagrouted"))"
    #expect(
      try await desktop.wrong()["daemon"]?.command
        == (getpwnam("tagroute") == nil ? "sudo Packaging/install" : starting))
    let busless = try await desktop.wrong(without: "DBUS_SYSTEM_BUS_ADDRESS")
    #expect(busless.keys.sorted() == ["system-bus"])
    #expect(busless["system-bus"]?.text.hasPrefix("cannot connect to the bus at unix:path=") == true)
  }

  @Test func `each problem of the session is reported`() async throws {
    let (desktop, server, _) = try await Desktop.sound()
    let directory = desktop.installation.directory

    let client = try await DaemonClient.connect(to: desktop.systemBus, on: EventLoop(label: "inhibitor"))
    do {
      let inhibitor = try await client.inhibit(who: "Camera", why: "takes a picture")
      // The daemon publishes the reason before the field is off.
      try await desktop.status { !$0.scanning && $0.suspendReasons == ["inhibited"] }
      let inhibited = try await desktop.findings()
      #expect(inhibited.status == .exited(0))
      #expect(inhibited.findings.last?.text == "paused by Camera (takes a picture)")
      #expect(inhibited.findings.last?.remedy == "scanning continues when process \(getpid()) ends")
      withExtendedLifetime(inhibitor) {}
    }
    try await desktop.status(\.scanning)

    _ = try directory.write(
      "[Desktop Entry]\nType=Application\nName=X\nImplements=org.tagroute.Handler1;\n",
      to: "share/applications/x.desktop")
    let broken = try await desktop.wrong()
    #expect(broken.keys.sorted() == ["handlers"])
    #expect(broken["handlers"]?.text.hasPrefix(directory.file("share/applications/x.desktop")) == true)
    unlink(directory.file("share/applications/x.desktop"))

    _ = try directory.write("[Inbox]\nInbox=perhaps\n", to: "agent.conf")
    #expect(try await desktop.wrong()["agent-configuration"]?.text.contains("agent.conf:2") == true)
    _ = try directory.write("", to: "agent.conf")

    await server.setCapabilities(["body"])
    #expect(try await desktop.wrong().keys.sorted() == ["notifications"])
    await server.stop()
    #expect(try await desktop.wrong()["notifications"]?.text.contains("no notification server runs") == true)

    try await desktop.daemon.exit(after: SIGKILL)
    let waiting = try await desktop.findings().findings
    #expect(
      waiting.contains {
        $0.subject == "agent" && $0.verdict == "note" && $0.text == "the agent is waiting for tagrouted"
      })
    try await desktop.agent.exit(after: SIGKILL)
    let alone = try await desktop.wrong()
    #expect(alone["agent"]?.text == "no agent runs in this session")
    #expect(try await desktop.wrong(without: "DBUS_SESSION_BUS_ADDRESS").keys.contains("session-bus"))
  }

  @Test func `problems of the systemd units are reported`() async throws {
    let (desktop, system, user) = try await withSystemd()
    let (status, findings) = try await desktop.findings()
    #expect(status == .exited(0))
    #expect(findings.filter { $0.verdict != "right" }.isEmpty, "\(findings)")
    #expect(findings.filter { $0.subject.hasSuffix("-unit") }.count == 2)

    try await desktop.daemon.exit(after: SIGKILL)
    let program = "/usr/libexec/tagrouted"
    for (active, sub, code, command) in [
      ("inactive", "dead", nil, "sudo systemctl enable --now tagrouted.service"),
      (
        "failed", "failed", 78,
        "sudo systemctl reset-failed tagrouted.service && sudo systemctl restart tagrouted.service"
      ),
      ("activating", "auto-restart", 1, "sudo journalctl -u tagrouted.service -n 20"),
    ] as [(String, String, Int32?, String)] {
      try await system.setUnit("tagrouted.service") {
        ($0.active, $0.sub, $0.exitStatus, $0.arguments) = (active, sub, code, [program])
      }
      #expect(try await desktop.wrong()["daemon-unit"]?.command == command)
    }
    // The bus denies the daemon its name, which only the exit code of the unit shows.
    try await system.setUnit("tagrouted.service") {
      ($0.active, $0.sub, $0.exitStatus) = ("activating", "auto-restart", 77)
    }
    #expect(try await desktop.wrong()["policy"]?.text.contains("does not let tagrouted own its name") == true)

    try await desktop.agent.exit(after: SIGKILL)
    try await user.setUnit("tagroute-agent.service") { ($0.active, $0.sub) = ("inactive", "dead") }
    #expect(try await desktop.wrong()["agent-unit"]?.command == "systemctl --user enable --now tagroute-agent.service")
    try await user.setUnit("graphical-session.target") { ($0.active, $0.sub) = ("inactive", "dead") }
    #expect(try await desktop.wrong()["agent-unit"]?.text.contains("graphical-session.target") == true)
  }
}
