import Bus
import EventLoop
import Names
import TestRig
import Testing

/// UID, technology, reader and time, from the simulated tag to the app.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TagDetailsTests {
  private static let keys = ["uid", "technology", "reader", "time"]

  /// The tap as the inbox has it.
  private func stored(_ desktop: Desktop, _ id: String?) async throws -> [String: Value] {
    let client = try await Connection.open(desktop.sessionBus, on: EventLoop(label: "test-client"))
    let reply = try await client.call(
      Names.Agent.busName, try ObjectPath(Names.Agent.path), Names.Agent.interface, "ListInbox",
      [.dictionary(id.map { ["id": .string($0)] } ?? ["messages": .boolean(true)])])
    return try #require(reply.first?.asArray?.first?.asDictionary)
  }

  @Test func `an app gets the tag's values, and the stored ones if the tap is opened again`() async throws {
    let (desktop, server) = try await Desktop.started()
    await desktop.app.set(.refuses)
    try await desktop.place(try Tag(1))
    try await server.click(desktop.notification(on: server))
    let first = try await desktop.handed().platformData
    #expect(first["uid"] == .bytes([4, 0, 0, 0, 0, 0, 1]) && first["technology"] == .string("type-2"))
    let tap = try await stored(desktop, first["tap-id"]?.asString)
    for key in Self.keys { #expect(first[key] != nil && first[key] == tap[key], "\(key)") }

    // The tag is gone, and another agent opens the tap from the inbox.
    try await desktop.remove()
    try await desktop.agent.exit(after: 15)
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
    await desktop.app.set(.takes)
    let id = try #require(first["tap-id"]?.asString)
    _ = try await desktop.installation.output("inbox", "open", id)
    let second = try await desktop.handed().platformData
    for key in Self.keys + ["tap-id"] { #expect(second[key] == first[key], "\(key)") }
  }
}
