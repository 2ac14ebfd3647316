import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

@testable import IntegrationTests

/// A machine with many readers, which all get tags at the same time.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct EightReadersTests {
  @Test func `each of 200 tags on eight readers is announced once`() async throws {
    let directory = try TemporaryDirectory()
    var readers: [SimulatedReader] = []
    for number in 0..<8 { readers.append(try await .start(link: directory.file("reader\(number)"))) }
    var devices: [String] = []
    for reader in readers { devices.append(await reader.connectionString) }
    let desktop = try await Desktop(.others, reader: ["Devices=\(devices.joined(separator: ";"))"])
    let server = try await desktop.startServer()
    try await desktop.installation.startDaemon()
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
    try await desktop.status { $0.readers.count == 8 && $0.readers.allSatisfy { $0.state == "scanning" } }
    for round in 0..<25 {
      let tags = try (0..<8).map { try Tag(8 * round + $0) }
      for (reader, tag) in zip(readers, tags) {
        await reader.removeAll()
        await reader.place(try tag.simulated)
      }
      var shown: [String] = []
      for _ in readers { shown.append(try await desktop.notification(on: server).body) }
      #expect(shown.sorted() == (0..<8).map { Tag.text(8 * round + $0) }.sorted())
    }
    #expect(await server.all.count == 200)
    for reader in readers { await reader.stop() }
    withExtendedLifetime(directory) {}
  }
}
