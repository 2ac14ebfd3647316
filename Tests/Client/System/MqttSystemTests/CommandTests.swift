import Bus
import EventLoop
import Names
import TagrouteClient
import TestKit
import Testing

/// Commands from the broker, with the real daemon and a simulated reader.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CommandTests {
  private static let scan = "tagroute/desk/command/scan"

  private func stage(_ settings: String..., starter: String = #function) async throws -> Stage {
    let stage = try await Stage(settings: [Stage.live] + settings, options: Installation.Options(), starter: starter)
    try await stage.station.installation.startSimulator()
    try await stage.station.installation.startDaemon()
    return stage
  }

  private func client(_ stage: Stage) async throws -> DaemonClient {
    try await DaemonClient.connect(
      to: BusAddress(stage.station.installation.systemBus.address), on: EventLoop(label: "test-client"))
  }

  /// Waits until this many programs keep scanning off.
  private func inhibitors(_ count: Int, _ client: DaemonClient) async throws {
    for await _ in try await client.changes() {
      if try await client.inhibitors().count == count { return }
    }
  }

  /// Puts a tag on the reader, and waits for it in the log.
  private func tap(_ stage: Stage) async throws {
    let mark = await stage.referee.mark()
    try await stage.station.installation.simulate("tap https://menu.example.com/table/1")
    try await stage.referee.message(after: mark) { $0.topic == "tagroute/desk/log" }
    let daemon = try #require(await stage.station.installation.daemon)
    let seen = await daemon.log().count
    try await stage.station.installation.simulate("remove")
    try await daemon.line(containing: "its tag was removed", after: seen)
  }

  @Test func `without Commands=yes a command does nothing`() async throws {
    let stage = try await stage()
    try await stage.start()
    try await stage.broker.publish("off", to: Self.scan)
    // The broker handles the messages of one client in their order, and the tap comes after the command.
    try await tap(stage)
    #expect(try await client(stage).inhibitors().isEmpty)
  }

  @Test func `scan off and on are an inhibitor that ends with the process`() async throws {
    let stage = try await stage("Commands=yes")
    let client = try await client(stage)
    _ = try await PolkitStandIn.start(
      on: BusAddress(stage.station.installation.systemBus.address), allowing: [Names.PolkitAction.inhibit])
    try await stage.start()
    try await tap(stage)
    try await stage.broker.publish("off", to: Self.scan)
    try await inhibitors(1, client)
    #expect(try await client.status().suspendReasons.contains("inhibited"))
    // At most one command per second counts.
    try await Self.publish("on", on: stage) { try await client.inhibitors().isEmpty }
    try await tap(stage)
    try await Self.publish("off", on: stage) { try await client.inhibitors().count == 1 }
    try await stage.station.endMqtt()
    try await inhibitors(0, client)
  }

  @Test func `a retained command and one with another payload are ignored`() async throws {
    let stage = try await stage("Commands=yes")
    try await stage.broker.publish("off", to: Self.scan, isRetained: true)
    try await stage.start()
    try await stage.broker.publish("offline", to: Self.scan)
    try await stage.broker.publish(String(repeating: "off", count: 1000), to: Self.scan)
    try await tap(stage)
    #expect(try await client(stage).inhibitors().isEmpty)
  }

  /// Sends a command until it has an effect: the station ignores one within a second after the previous one.
  private static func publish(
    _ command: String, on stage: Stage, until isDone: () async throws -> Bool
  ) async throws {
    repeat {
      try Task.checkCancellation()
      try await stage.broker.publish(command, to: scan)
    } while try await !isDone()
  }
}
