import Bus
import EventLoop
import Glibc
import Names
import TestKit
import Testing

private let polkitd = "/usr/lib/polkit-1/polkitd"

@Sendable private func canStartPolkit() async throws -> Bool {
  guard getuid() == 0, access(polkitd, X_OK) == 0 else { return false }
  return try await ChildProcess.run("/usr/bin/unshare", ["--mount", "/bin/true"]).status == .exited(0)
}

/// The real `tagrouted` asks the real polkitd, which has the actions of `Config/polkit` and an administrator's rule.
///
/// polkitd reads actions and rules from directories that are compiled in. So it runs in a mount namespace with other
/// directories in their place. To mount, and to drop its privileges, it needs root and a container that allows mounts.
/// Otherwise the suite is skipped. There is no logind, so polkitd finds no session for any caller.
@Suite(
  .timeLimit(.minutes(5)), .enabled("this is not root, or there is no polkitd or no mount namespace", canStartPolkit))
struct RealPolkitTests {
  private static var actions: String {
    repositoryRoot + "/Config/polkit"
  }

  private func polkit(on bus: PrivateBus, _ directory: TemporaryDirectory) async throws -> ChildProcess {
    try directory.write(
      """
      polkit.addRule(function(action, subject) {
        if (action.id == "\(Names.PolkitAction.inhibit)" && subject.user == "nobody") return polkit.Result.YES;
      });
      """, to: "rules/10-test.rules")
    let copy = try await ChildProcess.run("/bin/cp", ["-r", Self.actions, directory.file("actions")])
    guard copy.status == .exited(0) else { throw RigError("cannot copy the actions: \(copy.log)") }
    // polkitd switches to its own user, and has to reach these paths.
    let socket = String(bus.address.dropFirst("unix:path=".count))
    for path in [
      directory.path, directory.file("rules"), directory.file("actions"),
      String(socket.prefix(upTo: socket.lastIndex(of: "/") ?? socket.endIndex)),
    ] {
      guard chmod(path, 0o755) == 0 else { throw SystemError("open \(path) to polkitd") }
    }
    let process = try ChildProcess(
      "/usr/bin/unshare",
      [
        "--mount", "/bin/sh", "-c",
        """
        mount --bind "$1" /usr/share/polkit-1/actions && mkdir -p /etc/polkit-1/rules.d \
        && mount --bind "$2" /etc/polkit-1/rules.d && exec "$3"
        """, "sh", directory.file("actions"), directory.file("rules"), polkitd,
      ], environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
    try await process.line(containing: "Acquired the name")
    return process
  }

  private func nobody(_ rig: DaemonRig, _ arguments: String...) async throws -> String {
    let run = try await ChildProcess.run(
      "/usr/bin/setpriv",
      [
        "--reuid=nobody", "--regid=nogroup", "--clear-groups", "/usr/bin/dbus-send", "--system", "--print-reply",
        "--dest=\(Names.Daemon.busName)", Names.Daemon.path,
      ] + arguments, environment: ["DBUS_SYSTEM_BUS_ADDRESS": rig.bus.address])
    return run.log.joined(separator: "\n")
  }

  @Test func `polkitd knows the actions, their owner and their defaults`() async throws {
    let directory = try TemporaryDirectory()
    let bus = try await PrivateBus.start(type: "system")
    let polkit = try await polkit(on: bus, directory)
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "polkit"))
    let reply = try await connection.call(
      "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1.Authority",
      "EnumerateActions", [.string("")])
    var owners: [String: String] = [:]
    var defaults: [String: [UInt32?]] = [:]
    for action in reply.first?.asArray ?? [] {
      guard let parts = action.asStructure, let id = parts.first?.asString else { continue }
      #expect(parts[1].asString?.isEmpty == false)
      #expect(parts[2].asString?.isEmpty == false)
      // The defaults for any caller, for inactive sessions and for active sessions.
      defaults[id] = parts[6...8].map(\.asUInt32)
      owners[id] = parts.last?.asDictionary?["org.freedesktop.policykit.owner"]?.asString
    }
    let ids = [
      Names.PolkitAction.configure, Names.PolkitAction.inhibit, Names.PolkitAction.readTags,
      Names.PolkitAction.writeTags,
    ]
    #expect(owners == Dictionary(uniqueKeysWithValues: ids.map { ($0, "unix-user:tagroute") }))
    let (no, yes): (UInt32, UInt32) = (0, 5)
    #expect(defaults == Dictionary(uniqueKeysWithValues: ids.map { ($0, [no, no, yes]) }))
    polkit.signal(SIGKILL)
  }

  @Test func `the daemon follows the decision of polkitd`() async throws {
    let directory = try TemporaryDirectory()
    let rig = try await DaemonRig()
    let polkit = try await polkit(on: rig.bus, directory)
    let agent = try await rig.startScanning()
    // An administrator's rule allows it.
    let inhibited = try await nobody(rig, "\(Names.Daemon.managerInterface).Inhibit", "string:a", "string:b")
    #expect(inhibited.contains("method return"), "\(inhibited)")
    // No rule allows this, the caller has no active session, and polkit cannot ask for a password.
    let switched = try await nobody(
      rig, "org.freedesktop.DBus.Properties.Set", "string:\(Names.Daemon.managerInterface)", "string:Enabled",
      "variant:boolean:false")
    #expect(switched.contains(Names.Errors.notAuthorized), "\(switched)")
    #expect(try await agent.property("Enabled")?.asBool == true)
    // polkit allows root everything.
    try await agent.setEnabled(false)
    try await rig.scanning(false)
    // Without polkitd the daemon refuses every request.
    try await polkit.exit(after: SIGKILL)
    #expect(await AgentDouble.errorName { try await agent.setEnabled(true) } == Names.Errors.notAuthorized)
  }
}
