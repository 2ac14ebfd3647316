import Bus
import EventLoop
import Foundation
import Glibc
import Names
import ReaderSimulator
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
        "session-bus", "agent-configuration", "agent", "notifications", "handlers", "rules", "scanning",
      ])
    let directory = desktop.installation.directory
    #expect(try findings[0].text.contains(Regex("^tagroute [0-9.]+, libnfc [0-9][^ ]*, Linux ")), "\(findings[0].text)")
    #expect(findings[2].text == "\(directory.file("tagroute.conf")) has no errors; tagrouted was started with it")
    #expect(findings[9].text == "\(directory.file("agent.conf")) has no errors; tagroute-agent was started with it")
    let lines = try await desktop.installation.output("doctor", "--verbose").split(separator: "\n")
    #expect(lines.count == findings.count && lines.last == "right  scanning: the readers scan for tags")
    #expect(
      try await desktop.installation.output("doctor")
        == "right  \(findings.count) checks passed; tagroute doctor --verbose lists them\n")
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

    let rules = try directory.write(
      "[Rule a]\nUID=zz\nIgnore=yes\n", to: "config/tagroute/rules.d/a.conf", mode: 0o600)
    #expect(try await desktop.wrong()["rules"]?.text.hasPrefix("\(rules):2: ") == true)
    // A file that others can change is ignored.
    chmod(rules, 0o666)
    #expect(try await desktop.wrong()["rules"]?.text.contains("is ignored, because other users can change it") == true)
    unlink(rules)

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

/// `tagroute doctor` with the real daemon and readers that cannot be opened.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct DoctorReaderTests {
  /// Starts the daemon and the agent, and waits until the agent is registered.
  private func start(_ desktop: Desktop) async throws {
    try await desktop.installation.startDaemon()
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
  }

  /// Starts a daemon with an ordinary file as its reader.
  private func failed(starter: String = #function) async throws -> (Desktop, node: String) {
    let desktop = try await Desktop(starter: starter)
    let node = try desktop.installation.directory.write("", to: "reader")
    try await start(desktop)
    try await desktop.status { $0.readers.first?.state == "failed" }
    return (desktop, node)
  }

  @Test func `a device that the unit of the daemon blocks is reported with a command that allows it`() async throws {
    let (desktop, node) = try await failed()
    let systemd = try await SystemdStandIn.start(on: desktop.systemBus.string)
    try await systemd.setUnit("tagrouted.service") { $0.devices = ["char-ttyUSB", "char-ttyACM"] }
    let closed = try await desktop.wrong()["reader"]
    #expect(closed?.command == "sudo systemctl set-property tagrouted.service 'DeviceAllow=\(node) rw'")
    #expect(closed?.text.contains("is failed (") == true)
    try await systemd.setUnit("tagrouted.service") { $0.devices = ["\(node) r"] }
    #expect(try await desktop.wrong()["reader"]?.command == closed?.command)
    // If the remedy was applied, or if the unit blocks no device, `tagroute doctor` prints no command.
    for devices in [["char-ttyUSB", node], []] {
      try await systemd.setUnit("tagrouted.service") { $0.devices = devices }
      let open = try await desktop.wrong()["reader"]
      #expect(open?.verdict == "wrong" && open?.command == nil, "\(devices)")
    }
  }

  @Test func `a device that the daemon may not open is reported with a command that grants access`() async throws {
    let (desktop, node) = try await failed()
    let directory = desktop.installation.directory
    let process = try await desktop.daemon.identifier
    let names = (user: "4711", group: "4711")
    func wrong(_ groups: String) async throws -> DoctorFinding? {
      _ = try directory.write(
        "Name:\ttagrouted\nUid:\t4711\t4711\t4711\t4711\nGid:\t4711\t4711\t4711\t4711\nGroups:\t\(groups)\n",
        to: "proc/\(process)/status")
      _ = try directory.write(
        "tagrouted\0--config\0\(directory.file("tagroute.conf"))\0", to: "proc/\(process)/cmdline")
      return try await desktop.wrong(["TAGROUTE_PROC": directory.file("proc")])["reader"]
    }
    chmod(node, 0o600)
    var file = stat()
    #expect(stat(node, &file) == 0)
    let opening = "sudo chmod g+rw \(node)"
    #expect(try await wrong("\(file.st_gid)")?.command == opening)
    // The user joins the group of the device only if the group has a name and is not root's. Otherwise the group
    // changes.
    let isRoots = file.st_gid == 0 || getgrgid(file.st_gid) == nil
    let group = getgrgid(file.st_gid).map { String(cString: $0.pointee.gr_name) } ?? ""
    #expect(
      try await wrong("")?.command
        == (isRoots
          ? "sudo chgrp \(names.group) \(node) && \(opening)" : "\(opening) && sudo usermod -aG \(group) \(names.user)")
    )
    chmod(node, 0o666)
    #expect(try await wrong("")?.command == nil)
  }
}

/// `tagroute doctor` with unusual peers: daemons and agents of other versions, peers that do not answer, a bus policy
/// that blocks calls.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct DoctorStandInTests {
  /// Owns a bus name without any object behind it.
  private func mute(_ name: String, on address: BusAddress) async throws {
    let connection = try await Connection.open(address, on: EventLoop(label: "mute"))
    _ = try await connection.requestName(name)
    atEndOfTest { await connection.close() }
  }

  @Test func `a peer that owns its name but does not answer is reported`() async throws {
    let desktop = try await Desktop()
    for name in [Names.Daemon.busName, "org.freedesktop.PolicyKit1"] { try await mute(name, on: desktop.systemBus) }
    for name in [Names.Agent.busName, "org.freedesktop.Notifications"] {
      try await mute(name, on: desktop.sessionBus)
    }
    let wrong = try await desktop.wrong()
    #expect(wrong["daemon"]?.text.hasPrefix("tagrouted does not answer (") == true)
    #expect(wrong["daemon"]?.remedy == "end tagrouted and start it again, in the way it was started")
    #expect(wrong["polkit"]?.remedy == "restart polkitd with your service manager")
    #expect(wrong["agent"]?.text.hasPrefix("tagroute-agent does not answer (") == true)
    #expect(wrong["notifications"]?.text.hasPrefix("the notification server does not answer (") == true)
  }

  /// Owns a bus name, and replies to no call of this method until the test ends.
  private func hang(
    _ name: String, _ path: ObjectPath, _ interface: String, _ method: String, in input: [Argument] = [],
    on address: BusAddress
  ) async throws {
    let (never, continuation) = AsyncStream.makeStream(of: Void.self)
    let connection = try await Connection.open(address, on: EventLoop(label: "hanging"))
    let exported = ExportedMethod(method, in: input) { _, _ in
      for await _ in never {}
      return []
    }
    try await connection.export([ExportedInterface(interface, methods: [exported])], at: path)
    _ = try await connection.requestName(name)
    atEndOfTest {
      continuation.finish()
      await connection.close()
    }
  }

  @Test func `peers that hang are reported after a few seconds, because all are asked at the same time`() async throws {
    let desktop = try await Desktop()
    try await hang(
      "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
      "GetServerInformation", on: desktop.sessionBus)
    try await hang(
      "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "LoadUnit",
      in: [Argument("name", "s")], on: desktop.sessionBus)
    try await hang(
      "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1.Authority",
      "EnumerateActions", in: [Argument("locale", "s")], on: desktop.systemBus)
    let start = ContinuousClock.now
    let wrong = try await desktop.wrong()
    // The limit leaves time for a busy machine. One question after the other takes 10 s for each.
    #expect(ContinuousClock.now - start < .seconds(15))
    #expect(wrong["polkit"]?.text.hasPrefix("polkit does not answer (") == true)
    #expect(wrong["notifications"]?.text.hasPrefix("the notification server does not answer (") == true)
  }

  @Test func `a bus policy that blocks calls to the daemon is reported`() async throws {
    let desktop = try await Desktop()
    let bus = try await PrivateBus.start(
      type: "system", rules: ["<deny send_destination=\"\(Names.Daemon.busName)\"/>"])
    try await mute(Names.Daemon.busName, on: BusAddress(bus.address))
    let findings = try await desktop.findings(["DBUS_SYSTEM_BUS_ADDRESS": bus.address]).findings
    let policy = findings.first { $0.subject == "policy" }
    #expect(policy?.verdict == "wrong", "\(findings)")
    #expect(policy?.text.hasPrefix("the system bus does not let you talk to tagrouted") == true)
    #expect(
      findings.contains { $0.subject == "daemon" && $0.verdict == "note" && $0.text.contains("cannot be reached") })
    try await bus.stop()
  }

  @Test func `each problem of the reader program is reported`() async throws {
    let desktop = try await Desktop()
    let directory = desktop.installation.directory
    mkdir(directory.file("programs"), 0o755)
    let copy = directory.file("programs/tagroute")
    #expect(try await ChildProcess.run("/bin/cp", [BuiltProducts.program("tagroute"), copy]).status == .exited(0))
    let program = directory.file("programs/tagroute-reader")
    #expect(try await desktop.wrong(program: copy)["reader"]?.text == "\(program), which opens readers, is missing")
    for (script, text, command) in [
      (
        "echo 'x: error while loading shared libraries: libnfc.so.6: cannot open' >&2; exit 127",
        "does not start (x: error while loading shared libraries: libnfc.so.6: cannot open)", "libnfc"
      ),
      (
        "echo 'x: symbol lookup error: libnfc.so.6: undefined symbol: y' >&2; exit 127",
        "does not start (x: symbol lookup error: libnfc.so.6: undefined symbol: y)", "Packaging/install"
      ),
      ("kill -9 $$", "does not work (it was killed by signal 9)", "Packaging/install"),
      ("exit 1", "does not work (it ended with code 1)", "Packaging/install"),
      ("echo hello", "does not work (it does not print its version)", "Packaging/install"),
    ] {
      try directory.write("#!/bin/sh\n\(script)\n", to: "programs/tagroute-reader", mode: 0o755)
      let finding = try await desktop.wrong(program: copy)["reader"]
      #expect(finding?.text == "tagroute-reader, which opens readers, \(text)")
      #expect(finding?.remedy?.contains(command) == true, "\(String(describing: finding))")
    }
    let script = "#!/bin/sh\necho tagroute-reader 0.1.0\necho libnfc 9.9\n"
    try directory.write(script, to: "programs/tagroute-reader", mode: 0o755)
    let (_, findings) = try await desktop.findings(program: copy)
    #expect(findings.first?.text.contains("libnfc 9.9") == true)
  }
}

/// `tagroute doctor` with the real pcscd: it is right about a reader that works, and names the first obstacle otherwise.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardDoctorTests {
  /// A driver of pcscd for the reader. Its name is that of libccid.
  private static let driver = """
    <key>CFBundleShortVersionString</key><string>1.5.2</string>
    <key>ifdVendorID</key><array><string>0x072F</string></array>
    <key>ifdProductID</key><array><string>0x223B</string></array>
    <key>ifdFriendlyName</key><array><string>ACS ACR1252 Dual Reader</string></array>
    """

  /// A desktop on which all is well, with an ACR1252U in the USB tree that doctor sees.
  private func desk(starter: String = #function) async throws -> CardDesktop {
    let desk = try await CardDesktop(starter: starter)
    _ = try await desk.desktop.startPolkit(alsoAllowing: [Names.PolkitAction.configure])
    let directory = desk.desktop.installation.directory
    for (name, value) in [("idVendor", "072f"), ("idProduct", "223b"), ("busnum", "1"), ("devnum", "5")] {
      try directory.write("\(value)\n", to: "sys/bus/usb/devices/1-1/\(name)")
    }
    try directory.write(Self.driver, to: "drivers/ifd-ccid.bundle/Contents/Info.plist")
    return desk
  }

  private func changes(_ desk: CardDesktop) -> [String: String] {
    ["TAGROUTE_PCSC_DRIVERS": desk.desktop.installation.directory.file("drivers")]
  }

  @Test func `a reader that works is right`() async throws {
    let desk = try await desk()
    try await desk.start()
    let (status, findings) = try await desk.desktop.findings(changes(desk))
    #expect(status == .exited(0))
    #expect(findings.filter { $0.verdict != "right" }.isEmpty, "\(findings)")
    #expect(findings.first { $0.subject == "pcscd" }?.text == "pcscd drives 1 reader for Tagroute")
    let reader = findings.first { $0.subject == "reader" }?.text
    let device = try #require(await desk.devices.first)
    #expect(reader?.contains(device) == true, "\(reader ?? "")")
    #expect(reader?.hasSuffix("on seat0 is scanning") == true, "\(reader ?? "")")
    // The library and the driver are among the versions.
    let versions = findings.first { $0.subject == "versions" }?.text
    #expect(
      versions?.contains("pcsc-lite 1.") == true || versions?.contains("pcsc-lite 2.") == true, "\(versions ?? "")")
    #expect(versions?.contains("ccid 1.5.2") == true, "\(versions ?? "")")
  }

  @Test func `a pcscd that was killed is reported until it runs again`() async throws {
    let desk = try await desk()
    try await desk.start()
    let daemon = try await desk.desktop.daemon
    let seen = await daemon.log().count
    await desk.pcscd.kill()
    try await desk.desktop.status { $0.readers.first?.stateReason.contains("pcscd does not run") == true }
    // The socket is still there, as if systemd could start pcscd.
    let failed = try await desk.desktop.wrong(changes(desk))
    #expect(failed["reader"]?.remedy?.contains("sudo systemctl enable --now pcscd.socket") == true, "\(failed)")
    unlink(desk.pcscd.socket)
    let stopped = try await desk.desktop.wrong(changes(desk))
    #expect(stopped["pcscd"]?.text == "ACS ACR1252U (072f:223b) needs pcscd, which is not running", "\(stopped)")

    try await desk.pcscd.restart()
    try await desk.readers.waitUntilOpen(by: desk.pcscd)
    try await daemon.line(containing: Desktop.readerReady, after: seen)
    try await desk.scanning()
    #expect(try await desk.desktop.wrong(changes(desk)).isEmpty)
  }
}

/// A finding in the output of `tagroute doctor --json`.
struct DoctorFinding: Decodable, Hashable {
  let subject: String
  let verdict: String
  let text: String
  let remedy: String?
  let command: String?
}

extension Desktop {
  /// Starts a desktop on which all checks of `tagroute doctor` pass.
  static func sound(
    starter: String = #function
  ) async throws -> (Desktop, NotificationServerStandIn, PolkitStandIn) {
    let desktop = try await Desktop(starter: starter)
    let polkit = try await desktop.startPolkit(alsoAllowing: [Names.PolkitAction.configure])
    let server = try await desktop.startWithServer()
    try await desktop.status(\.scanning)
    return (desktop, server, polkit)
  }

  /// Runs `tagroute doctor --json` on this desktop.
  ///
  /// `variable` is the variable of a bus address, to be set to a bus that does not exist. `changes` are more
  /// environment variables. `program` is a copy of `tagroute` to run instead.
  func findings(
    without variable: String? = nil, _ changes: [String: String] = [:], program: String? = nil
  ) async throws -> (status: ChildProcess.ExitStatus, findings: [DoctorFinding]) {
    var environment = installation.environment.merging(changes) { _, changed in changed }
    if let variable { environment[variable] = "unix:path=\(installation.directory.file("nobody"))" }
    let result = try await ChildProcess.run(
      program ?? BuiltProducts.program("tagroute"), ["doctor", "--json"], environment: environment)
    return (result.status, try JSONDecoder().decode([DoctorFinding].self, from: Data(result.output.utf8)))
  }

  /// Runs `tagroute doctor --json` and returns the findings with the verdict `wrong`, by subject.
  func wrong(
    without variable: String? = nil, _ changes: [String: String] = [:], program: String? = nil
  ) async throws -> [String: DoctorFinding] {
    let (status, findings) = try await findings(without: variable, changes, program: program)
    let wrong = findings.filter { $0.verdict == "wrong" }
    #expect(status == .exited(wrong.isEmpty ? 0 : 1))
    for finding in wrong { #expect(finding.remedy?.isEmpty == false, "\(finding)") }
    return Dictionary(wrong.map { ($0.subject, $0) }) { first, _ in first }
  }
}
