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
/// one step that no order of things can make safe: an agent that is killed there does not know the number of what is up.
@Suite(.timeLimit(.minutes(10))) struct KillTableTests {
  enum Step: String, CaseIterable, Sendable {
    /// The daemon has read the tag and given the tap to an agent that does not answer.
    case read
    /// The agent has it in its inbox, and there is nobody to show it.
    case stored
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
  }

  enum Victim: String, CaseIterable, Sendable { case agent, daemon, app, notificationServer, sessionBus, systemBus }

  /// What there is of a case while it runs: the stand-ins change when they are killed.
  private final class Scene {
    let desktop: Desktop
    var app: HandlerStandIn
    var server: NotificationServerStandIn?
    /// How often apps that were killed had been called.
    var formerCalls = 0

    init(_ desktop: Desktop) {
      self.desktop = desktop
      app = desktop.app
    }

    var calls: Int { get async { await formerCalls + app.count } }
  }

  @Test(arguments: Step.allCases, Victim.allCases)
  func oneTapInOneTrueState(step: Step, victim: Victim) async throws {
    let desktop = try await Desktop(starter: "oneTapInOneTrueState_\(step)_\(victim)")
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
    switch whole.state {
    case "shown": #expect(up == 1 && calls == 0, "\(said)")
    case "delivered": #expect(up == 0 && calls == 1, "\(said)")
    case "failed":
      let leavesOpen = ["ended-while-opening", "left-without-answer", "bus-lost"].contains(whole.stateReasonCode)
      #expect(up == 1 && calls <= (leavesOpen ? 1 : 0), "\(said)")
    default: Issue.record("\(said)")
    }
    #expect(Self.possible(step, victim).contains(whole.state), "\(said)")
    await desktop.stop()
  }

  /// What may have become of the tap; one state wherever the order of things leaves no choice.
  private static func possible(_ step: Step, _ victim: Victim) -> Set<String> {
    switch (step, victim) {
    case (.read, _), (.stored, _), (.shown, _): ["shown"]
    case (.clicked, _): ["shown", "failed", "delivered"]
    case (.opening, .agent), (.opening, .app), (.opening, .sessionBus): ["failed"]
    case (.handedOver, .agent), (.handedOver, .app), (.handedOver, .sessionBus): ["failed", "delivered"]
    case (.opening, _), (.handedOver, _), (.delivered, _): ["delivered"]
    }
  }

  // MARK: The way of a tap

  private func go(to step: Step, _ scene: Scene) async throws {
    let desktop = scene.desktop
    if step != .stored { scene.server = try await desktop.startServer() }
    try await desktop.start()
    let agent = try await desktop.agent
    if step == .read { agent.signal(SIGSTOP) }
    if step == .opening { await scene.app.set(.hangs) }
    try await desktop.place(try Tag(1))
    try await desktop.daemon.line(containing: "message of \(Tag(1).message.count) bytes")
    if step != .read { try await agent.line(containing: "is offered") }
    // What rests on the reader would be read again by a daemon that is started anew: another tap.
    try await desktop.remove()
    guard step != .read, step != .stored, let server = scene.server else { return }
    let shown = try await desktop.notification(on: server)
    try await agent.line(containing: "is shown")
    guard step != .shown else { return }
    try await server.click(shown)
    guard step != .clicked else { return }
    let app = scene.app
    _ = try await desktop.within("a message at the app") { await app.next() }
    guard step == .delivered else { return }
    try await agent.line(containing: "is delivered")
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
      await scene.server?.stop()
      scene.server = nil
      agent.signal(SIGCONT)
    case .sessionBus:
      let bus = try #require(desktop.installation.sessionBus)
      try await bus.stop()
      await scene.server?.stop()
      scene.server = nil
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
  }

  /// The second tag's whole way, which also lets everything else come to rest.
  private func proveThatTheNextTagWorks(_ scene: Scene) async throws {
    let desktop = scene.desktop
    let server = try #require(scene.server)
    let app = scene.app
    try await desktop.place(try Tag(2))
    let shown = try await desktop.within("the next tag's notification") {
      while true {
        let next = await server.next()
        if next.body.hasPrefix(Tag.text(2)) { return next }
      }
    }
    let agent = try await desktop.agent
    let seen = await agent.log().count
    try await server.click(shown)
    let link = "https://\(Tag.text(2))"
    try await desktop.within("the next tag's message at the app") { while await app.next().uri != link {} }
    try await agent.line(containing: "is delivered", after: seen)
  }
}
