import Bus
import EventLoop
import Glibc
import TagrouteClient
import TestSupport
import Testing

/// Whatever is killed at whatever step of a tap: afterwards the tap is in one state, which is true, is on the screen once where it waits
/// for the user and not at all where it does not, and the next tag works.
///
/// A step is reached when its event has come, never after a time. Between a server's taking of a notification and the note of where it is lies the
/// one step that no order of things can make safe: an agent that is killed there does not know the number of what is up, and the tap is on the
/// screen twice (``isTwice(_:_:)``).
@Suite(.timeLimit(.minutes(10))) struct KillTableTests {
  enum Step: String, CaseIterable, Sendable {
    /// The daemon has read the tag and given the tap to an agent that does not answer.
    case read
    /// The agent has it in its inbox, and there is nobody to show it.
    case stored
    /// A server has its notification on the screen, and has not said so.
    case asked
    /// The inbox says where its notification is.
    case shown
    /// The user has clicked, and nobody may have heard of it.
    case clicked
    /// The app has been given the message, and does not answer.
    case opening
    /// The app has answered, and nobody may have heard of it.
    case handedOver
    /// The inbox says that the app has it.
    case delivered
    /// The app has refused it, and the notification that says so is up.
    case failed
    /// The user has asked to try again, and the app that has it once more does not answer.
    case triedAgain

    /// How often the app had been given the tap, to no avail, before what is under way.
    var formerAttempts: Int { self == .failed || self == .triedAgain ? 1 : 0 }
  }

  enum Victim: String, CaseIterable, Sendable { case agent, daemon, app, notificationServer, sessionBus, systemBus }

  /// What there is of a case while it runs: the stand-ins change when they are killed.
  private final class Scene {
    let desktop: Desktop
    var app: HandlerStandIn
    var server: NotificationServerStandIn?
    /// How often apps that were killed had been called.
    var formerCalls = 0
    /// How often servers that were killed had the tap on the screen at once.
    var formerMost = 0

    init(_ desktop: Desktop) {
      self.desktop = desktop
      app = desktop.app
    }

    var calls: Int { get async { await formerCalls + app.count } }

    var mostAtOnce: Int {
      get async { max(formerMost, await server?.mostAtOnce(Tag.text(1)) ?? 0) }
    }

    func stopServer() async {
      formerMost = await mostAtOnce
      await server?.stop()
      server = nil
    }
  }

  @Test(arguments: Step.allCases, Victim.allCases)
  func oneTapInOneTrueState(step: Step, victim: Victim) async throws {
    let desktop = try await Desktop(starter: "oneTapInOneTrueState_\(step)_\(victim)")
    // A message that the app has lost is lost: no other program takes it.
    try HandlerStandIn.install(in: desktop.installation, program: "/nonexistent")
    let scene = Scene(desktop)
    try await go(to: step, scene)
    try await kill(victim, scene, at: step)
    try await proveThatTheNextTagWorks(scene)

    let client = try await AgentClient.connect(to: desktop.sessionBus, on: EventLoop(label: "test-client"))
    let taps = try await client.taps()
    let own = taps.filter { $0.uri == "https://\(Tag.text(1))" }
    #expect(own.count == 1, "every tap is kept once: \(taps.map(\.state))")
    let tap = try #require(own.first)
    let whole = try #require(try await client.taps(id: tap.id).first)
    let isUp = try #require(scene.server)
    let up = await isUp.onScreen.values.filter { $0.body.hasPrefix(Tag.text(1)) }.count
    // One was for the next tag.
    let calls = await scene.calls - 1
    let said = "\(whole.state) \(whole.stateReasonCode), \(up) on the screen, the app was called \(calls) times"
    let former = step.formerAttempts
    switch whole.state {
    case "shown": #expect(up == (Self.isTwice(step, victim) ? 2 : 1) && calls == 0, "\(said)")
    case "delivered": #expect(up == 0 && calls == former + 1, "\(said)")
    case "failed":
      let leavesOpen = ["ended-while-opening", "left-without-answer", "bus-lost"].contains(whole.stateReasonCode)
      #expect(up == 1 && (former...former + (leavesOpen ? 1 : 0)).contains(calls), "\(said)")
    default: Issue.record("\(said)")
    }
    #expect(await scene.mostAtOnce <= (Self.isTwice(step, victim) ? 2 : 1), "\(said)")
    #expect(Self.possible(step, victim).contains(whole.state), "\(said)")
    await desktop.stop()
  }

  /// What may have become of the tap; one state wherever the order of things leaves no choice.
  private static func possible(_ step: Step, _ victim: Victim) -> Set<String> {
    switch (step, victim) {
    case (.read, _), (.stored, _), (.asked, _), (.shown, _): ["shown"]
    case (.clicked, .daemon), (.clicked, .systemBus): ["delivered"]
    case (.clicked, .app): ["failed", "delivered"]
    case (.clicked, _): ["shown", "failed", "delivered"]
    case (.opening, .agent), (.opening, .app), (.opening, .sessionBus): ["failed"]
    case (.triedAgain, .agent), (.triedAgain, .app), (.triedAgain, .sessionBus), (.failed, _): ["failed"]
    case (.handedOver, .agent), (.handedOver, .app), (.handedOver, .sessionBus): ["failed", "delivered"]
    case (.opening, _), (.triedAgain, _), (.handedOver, _), (.delivered, _): ["delivered"]
    }
  }

  /// What an agent does not know the number of it cannot take away.
  private static func isTwice(_ step: Step, _ victim: Victim) -> Bool { step == .asked && victim == .agent }

  // MARK: The way of a tap

  private func go(to step: Step, _ scene: Scene) async throws {
    let desktop = scene.desktop
    if step != .stored { scene.server = try await desktop.startServer() }
    try await desktop.start()
    let agent = try await desktop.agent
    if step == .read { agent.signal(SIGSTOP) }
    if step == .asked { await scene.server?.hold() }
    if step == .opening { await scene.app.set(.hangs) }
    if step == .failed || step == .triedAgain { await scene.app.set(.refuses) }
    try await desktop.place(try Tag(1))
    try await desktop.daemon.line(containing: "message of \(Tag(1).message.count) bytes")
    if step != .read { try await agent.line(containing: "is offered") }
    // What rests on the reader would be read again by a daemon that is started anew: another tap.
    try await desktop.remove()
    guard step != .read, step != .stored, let server = scene.server else { return }
    let shown = try await desktop.notification(on: server)
    guard step != .asked else { return }
    try await agent.line(containing: "is shown")
    guard step != .shown else { return }
    let seen = await agent.log().count
    try await server.click(shown)
    guard step != .clicked else { return }
    let app = scene.app
    _ = try await desktop.within("a message at the app") { try await app.next() }
    if step == .delivered { try await agent.line(containing: "is delivered") }
    guard step == .failed || step == .triedAgain else { return }
    let failed = try await desktop.notification(on: server)
    try await agent.line(containing: "is shown", after: seen)
    guard step == .triedAgain else { return }
    await app.set(.hangs)
    try await server.click(failed, action: "retry")
    _ = try await desktop.within("the message at the app once more") { try await app.next() }
  }

  // MARK: Killing, and starting again

  private func kill(_ victim: Victim, _ scene: Scene, at step: Step) async throws {
    let desktop = scene.desktop
    let agent = try await desktop.agent
    let seen = await agent.log().count
    switch victim {
    case .agent:
      agent.signal(SIGKILL)
      try await agent.exit()
      try await desktop.installation.startAgent()
    case .daemon:
      let daemon = try await desktop.daemon
      daemon.signal(SIGKILL)
      try await daemon.exit()
      agent.signal(SIGCONT)
      try await desktop.installation.startDaemon()
    case .app:
      scene.formerCalls = await scene.app.count
      await scene.app.leave()
      agent.signal(SIGCONT)
      scene.app = try await HandlerStandIn.start(on: try #require(desktop.installation.sessionBus).address)
    case .notificationServer:
      await scene.stopServer()
      agent.signal(SIGCONT)
    case .sessionBus:
      let bus = try #require(desktop.installation.sessionBus)
      try await bus.stop()
      await scene.stopServer()
      agent.signal(SIGCONT)
      try await bus.restart()
    case .systemBus:
      try await desktop.installation.systemBus.stop()
      agent.signal(SIGCONT)
      try await desktop.installation.systemBus.restart()
    }
    if scene.server == nil { scene.server = try await desktop.startServer() }
    switch victim {
    case .agent: try await desktop.agent.line(containing: Desktop.registered)
    case .daemon, .systemBus: try await agent.line(containing: Desktop.registered, after: seen)
    case .app, .notificationServer, .sessionBus: break
    }
    await scene.app.set(.takes)
    await scene.app.answer()
    await scene.server?.answer()
  }

  /// The second tag's whole way, which also lets everything else come to rest.
  private func proveThatTheNextTagWorks(_ scene: Scene) async throws {
    let desktop = scene.desktop
    let server = try #require(scene.server)
    let app = scene.app
    try await desktop.place(try Tag(2))
    let shown = try await desktop.within("the next tag's notification") {
      while true {
        let next = try await server.next()
        if next.body.hasPrefix(Tag.text(2)) { return next }
      }
    }
    let agent = try await desktop.agent
    let seen = await agent.log().count
    try await server.click(shown)
    let link = "https://\(Tag.text(2))"
    try await desktop.within("the next tag's message at the app") { while try await app.next().uri != link {} }
    try await agent.line(containing: "is delivered", after: seen)
  }

  // MARK: A program

  /// Has no output but its files: what it inherits is the agent's.
  private static let program = """
    #!/bin/sh
    exec > /dev/null 2>&1
    cat > "$0.message"
    echo started >> "$0.starts"
    read line < "$0.go"
    echo "$line" > "$0.went"
    """

  @Test func aProgramOutlivesTheAgentThatStartedIt() async throws {
    let desktop = try await Desktop()
    let directory = desktop.installation.directory
    let program = try directory.write(Self.program, to: "program", mode: 0o755)
    for fifo in [".go", ".went"] { try #require(mkfifo(program + fifo, 0o600) == 0) }
    try directory.write(
      HandlerStandIn.desktopEntry.replacing("Exec=/bin/true", with: "Exec=\(program) %u")
        .replacing("DBusActivatable=true\n", with: "").replacing("menu.example.com", with: "program.example"),
      to: "share/applications/org.example.Program.desktop")
    let server = try await desktop.startServer()
    try await desktop.start()
    // Whoever is not root cannot install it as the system's: it would be asked about.
    let choice = ["handlers", "prefer", "org.example.Program", "program.example"]
    #expect(try await desktop.installation.start("tagroute", choice).exit() == .exited(0))
    let tag = try Tag(1, uri: "https://program.example/1")
    try await desktop.place(tag)
    let agent = try await desktop.agent
    try await server.click(try await desktop.notification(on: server))
    try await agent.line(containing: "is delivered")
    try await desktop.remove()
    agent.signal(SIGKILL)
    try await agent.exit()
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)

    let line = try await desktop.within("the program") {
      try await DedicatedThread.run {
        let go = open(program + ".go", O_WRONLY | O_CLOEXEC)
        guard go >= 0, write(go, "on\n", 3) == 3, close(go) == 0 else { return "" }
        return (try? String(decoding: readFile(program + ".went"), as: UTF8.self)) ?? ""
      }
    }
    #expect(line == "on\n")
    #expect(try readFile(program + ".message") == tag.message)
    #expect(try String(decoding: readFile(program + ".starts"), as: UTF8.self) == "started\n")
    let client = try await AgentClient.connect(to: desktop.sessionBus, on: EventLoop(label: "test-client"))
    #expect(try await client.taps().map(\.state) == ["delivered"])
    #expect(await server.onScreen.isEmpty)
    await desktop.stop()
  }
}
