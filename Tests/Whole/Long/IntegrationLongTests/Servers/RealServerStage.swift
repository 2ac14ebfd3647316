import Bus
import EventLoop
import TagrouteClient
import TestKit

@testable import IntegrationTests

extension RealServerScreen {
  /// Starts everything, with an empty screen. With the server's own timeout, a slow machine might see only the end of a
  /// notification.
  static func stage(
    _ server: RealServer, timeout: String = "never", isSystems: Bool = true, starter: String = #function
  ) async throws -> (desktop: Desktop, screen: RealServerScreen, taps: Taps) {
    let desktop = try await Desktop(environment: language, isSystems: isSystems, starter: starter)
    try desktop.installation.directory.write("[Notifications]\nTimeout=\(timeout)\n", to: "agent.conf")
    let screen = try await RealServerScreen(server, on: desktop)
    atEndOfTest { await screen.stop() }
    try await screen.start()
    try await desktop.start()
    let taps = try await Taps(on: desktop.sessionBus)
    if !server.isActivated { try await desktop.agent.line(containing: "notifications go to \(server.ownName)") }
    try await screen.remember()
    return (desktop, screen, taps)
  }
}

/// The events of the agent's taps, in order.
actor Taps {
  private let agent: AgentClient
  private var events: AsyncStream<AgentClient.Event>.Iterator

  init(on bus: BusAddress) async throws {
    agent = try await AgentClient.connect(to: bus, on: EventLoop(label: "taps"))
    events = try await agent.events().makeAsyncIterator()
  }

  /// The id of the next tap.
  func received() async throws -> String {
    while let event = await next() {
      if case .received(let id) = event { return id }
    }
    throw RigError("the signals of the agent ended")
  }

  /// The final state of this tap.
  func end(of id: String) async -> String? {
    while let event = await next() {
      if case .closed(id, let state) = event { return state }
    }
    return nil
  }

  private func next() async -> AgentClient.Event? {
    var events = events
    defer { self.events = events }
    return await events.next(isolation: self)
  }
}
