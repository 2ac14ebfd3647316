import Bus
import EventLoop
import Glibc
import TagrouteClient
import TestKit
import Testing

/// Kills a program at a step of a tap. Afterwards the tap is in one state, which is correct. The tap is on the
/// screen once if it waits for the user, and otherwise not at all. The next tag works.
///
/// A step is reached when its event arrives, never after a time. No order of events makes one step safe: the server has
/// the notification, and the agent dies before it stores the id. The next agent does not know the id, so the tap is on
/// the screen twice (``isTwice(_:_:)``).
enum KillTable {
  enum Step: String, CaseIterable, Sendable {
    /// The daemon has read the tag and sent the tap to an agent that does not reply.
    case read
    /// The agent has stored the tap in its inbox, and no notification server runs.
    case stored
    /// A server shows the notification and has not replied yet.
    case asked
    /// The inbox has the id of the notification.
    case shown
    /// The user has clicked, and the agent may not have received the click.
    case clicked
    /// The app has received the message and does not reply.
    case opening
    /// The app has replied, and the agent may not have received the reply.
    case handedOver
    /// The tap is delivered in the inbox.
    case delivered
    /// The app has refused the message, and the notification about that is on the screen.
    case failed
    /// The user has retried, and the app does not reply to the second message.
    case triedAgain

    /// How often the app had received the tap without success before the current attempt.
    var formerAttempts: Int { self == .failed || self == .triedAgain ? 1 : 0 }
  }

  enum Victim: String, CaseIterable, Sendable { case agent, daemon, app, notificationServer, sessionBus, systemBus }

  /// The objects of one case. A stand-in is replaced after it was killed.
  private final class Scene {
    let desktop: Desktop
    var app: HandlerStandIn
    var server: NotificationServerStandIn?
    /// How often the killed apps had been called.
    var formerCalls = 0
    /// The largest number of notifications for the tap that killed servers had on the screen at once.
    var formerMost = 0

    init(_ desktop: Desktop) {
      self.desktop = desktop
      app = desktop.app
    }

    var calls: Int { get async { await formerCalls + app.count } }

    var mostAtOnce: Int { get async { max(formerMost, await server?.mostAtOnce(Tag.text(1)) ?? 0) } }

    func stopServer() async {
      formerMost = await mostAtOnce
      await server?.stop()
      server = nil
    }
  }

  /// Throws if an event that has to follow does not come.
  static func run(_ step: Step, _ victim: Victim, starter: String) async throws {
    let desktop = try await Desktop(starter: starter)
    // No other program takes a message that the app has lost.
    try HandlerStandIn.install(in: desktop.installation, program: "/nonexistent")
    let scene = Scene(desktop)
    try await go(to: step, scene)
    try await kill(victim, scene, at: step)
    try await proveThatTheNextTagWorks(scene)

    let client = try await AgentClient.connect(to: desktop.sessionBus, on: EventLoop(label: "test-client"))
    let taps = try await client.taps()
    let own = taps.filter { $0.uri == "https://\(Tag.text(1))" }
    #expect(own.count == 1, "the inbox must have the tap once: \(taps.map(\.state))")
    let tap = try #require(own.first)
    let whole = try #require(try await client.taps(id: tap.id).first)
    let isUp = try #require(scene.server)
    let up = await isUp.onScreen.values.filter { $0.body.hasPrefix(Tag.text(1)) }.count
    // One call was for the next tag.
    let calls = await scene.calls - 1
    let said = "\(whole.state) \(whole.stateReasonCode), \(up) on the screen, the app was called \(calls) times"
    let former = step.formerAttempts
    switch whole.state {
    case "shown": #expect(up == (isTwice(step, victim) ? 2 : 1) && calls == 0, "\(said)")
    case "delivered": #expect(up == 0 && calls == former + 1, "\(said)")
    case "failed":
      let leavesOpen = ["ended-while-opening", "left-without-answer", "bus-lost"].contains(whole.stateReasonCode)
      #expect(up == 1 && (former...former + (leavesOpen ? 1 : 0)).contains(calls), "\(said)")
    default: Issue.record("\(said)")
    }
    #expect(await scene.mostAtOnce <= (isTwice(step, victim) ? 2 : 1), "\(said)")
    #expect(possible(step, victim).contains(whole.state), "\(said)")
  }

  /// The states that the tap may have: only one, unless the order of events is open.
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

  /// Whether the tap is on the screen twice. The agent cannot remove a notification without its id.
  private static func isTwice(_ step: Step, _ victim: Victim) -> Bool { step == .asked && victim == .agent }

  // MARK: Steps of a tap

  private static func go(to step: Step, _ scene: Scene) async throws {
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
    // A restarted daemon would read a tag that still lies on the reader as another tap.
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

  // MARK: Kills and restarts

  private static func kill(_ victim: Victim, _ scene: Scene, at step: Step) async throws {
    let desktop = scene.desktop
    let agent = try await desktop.agent
    let seen = await agent.log().count
    switch victim {
    case .agent:
      try await agent.exit(after: SIGKILL)
      try await desktop.installation.startAgent()
    case .daemon:
      let reader = try await desktop.reader
      try await desktop.daemon.exit(after: SIGKILL)
      try await desktop.within("the end of the reader process") { try await reader.end() }
      agent.signal(SIGCONT)
      try await desktop.installation.startDaemon()
    case .app:
      await scene.app.leave()
      scene.formerCalls = await scene.app.count
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

  /// Takes a second tag through all steps. By then all other events have settled.
  private static func proveThatTheNextTagWorks(_ scene: Scene) async throws {
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
}

/// Two cells of the table that `KillTableTests` tries as a whole.
@Suite(.timeLimit(.minutes(10)), StopsAtEnd()) struct KillCellTests {
  @Test(arguments: [(KillTable.Step.opening, KillTable.Victim.agent), (.shown, .daemon)])
  func `after a kill the tap is in one correct state and the next tag works`(
    step: KillTable.Step, victim: KillTable.Victim
  ) async throws {
    try await KillTable.run(
      step, victim,
      starter: "`after a kill the tap is in one correct state and the next tag works`_\(step)_\(victim)")
  }
}
