import Bus
import EventLoop
import Glibc
import TagrouteClient
import TestKit
import Testing

/// Conditions that only the user's session knows turn the field off and on: screen savers, displays, cameras, radios,
/// and the user's own command.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SessionConditionTests {
  private func field(_ desktop: Desktop, isOn: Bool) async throws -> Bool {
    try await desktop.installation.simulate("counters").contains(isOn ? "field=on" : "field=off")
  }

  /// Waits until scanning is suspended for this reason alone, and checks that the field is off.
  private func closed(_ desktop: Desktop, by reason: String, sourceLocation: SourceLocation = #_sourceLocation)
    async throws
  {
    try await desktop.status { !$0.scanning && $0.suspendReasons == [reason] }
    #expect(try await field(desktop, isOn: false), sourceLocation: sourceLocation)
  }

  private func run(_ desktop: Desktop, _ words: String...) async throws -> ChildProcess.ExitStatus {
    try await desktop.installation.tagroute(words).status
  }

  @Test func `each condition of the session suspends scanning`() async throws {
    let desktop = try await Desktop(agentScan: ["SuspendForCamera=yes"])
    let saver = try await ScreenSaverStandIn.start(on: desktop.sessionBus)
    let mutter = try await PropertyStandIn.start(
      "org.gnome.Mutter.DisplayConfig", "PowerSaveMode", .int32(0), on: desktop.sessionBus)
    let radios = try await PropertyStandIn.start(
      "org.gnome.SettingsDaemon.Rfkill", "AirplaneMode", .boolean(false), on: desktop.sessionBus)
    let node = try desktop.installation.directory.write("", to: "dev/video0")
    let early = open(node, O_RDONLY | O_CLOEXEC)
    try await desktop.start()
    // The camera was in use before the agent started.
    try await closed(desktop, by: "camera")
    close(early)
    try await desktop.status(\.scanning)
    let camera = open(node, O_RDONLY | O_CLOEXEC)
    try await closed(desktop, by: "camera")
    close(camera)
    try await desktop.status(\.scanning)

    await radios.set(.boolean(true))
    try await closed(desktop, by: "airplane-mode")
    await radios.set(.boolean(false))
    try await desktop.status(\.scanning)

    await mutter.set(.int32(3))
    try await closed(desktop, by: "display-off")
    // A compositor that has ended reports no display as off, so scanning resumes.
    await mutter.stop()
    try await desktop.status(\.scanning)

    try await saver.setActive(true)
    try await closed(desktop, by: "session-locked")
    // The tag that lies there is read only after the unlock.
    let server = try await desktop.startServer()
    try await desktop.place(try Tag(1))
    try await saver.setActive(false)
    #expect(try await desktop.notification(on: server).body == Tag.text(1))
    try await desktop.status(\.scanning)
  }

  @Test func `session lock suspends scanning until session unlock`() async throws {
    let desktop = try await Desktop()
    #expect(try await run(desktop, "session", "lock") == .exited(69))
    try await desktop.startScanning()
    #expect(try await run(desktop, "session", "lock") == .exited(0))
    // The daemon knows the state by the time the command ends.
    let client = try await DaemonClient.connect(to: desktop.systemBus, on: EventLoop(label: "test-client"))
    #expect(try await client.status().suspendReasons == ["session-locked"])
    try await closed(desktop, by: "session-locked")
    #expect(try await run(desktop, "session", "lock") == .exited(0))
    // An unlock by the user does not unlock an active screen saver.
    let saver = try await ScreenSaverStandIn.start(on: desktop.sessionBus, isActive: true)
    try await desktop.agent.line(containing: "org.gnome.ScreenSaver is active")
    #expect(try await run(desktop, "session", "unlock") == .exited(0))
    #expect(try await client.status().suspendReasons == ["session-locked"])
    try await saver.setActive(false)
    try await desktop.status(\.scanning)
    #expect(try await run(desktop, "session", "wait") == .exited(64))
  }

  @Test func `LockDetection=strict scans after the user reports an unlock`() async throws {
    let desktop = try await Desktop(scan: ["Sessions=logind", "LockDetection=strict"])
    _ = try await LogindStandIn.start(
      on: desktop.systemBus, sessions: [LogindStandIn.Session(id: "2", uid: getuid())])
    try await desktop.start()
    try await closed(desktop, by: "lock-unknown")
    #expect(try await run(desktop, "session", "unlock") == .exited(0))
    try await desktop.status(\.scanning)
    #expect(try await run(desktop, "session", "lock") == .exited(0))
    try await closed(desktop, by: "session-locked")
    #expect(try await run(desktop, "session", "unlock") == .exited(0))
    try await desktop.status(\.scanning)
    // The agent's report ends with the agent.
    try await desktop.agent.exit(after: SIGKILL)
    try await desktop.status { $0.suspendReasons.contains("lock-unknown") }
  }
}
