import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

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
