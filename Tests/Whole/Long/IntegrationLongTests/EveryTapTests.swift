import NDEF
import ReaderSimulator
import TestKit
import Testing

@testable import IntegrationTests

/// Every tap leads to one notification and one message, for any tag and after any other tap.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct EveryTapTests {
  /// Stores its input in a new file and prints the name of the file. Its output is also the agent's output.
  private static let store = """
    #!/bin/sh
    file=$(mktemp "$0.XXXXXX") && cat > "$file" && echo "stored $file"
    """

  @Test func `each of 200 taps of 20 tags leads to one notification and one message`() async throws {
    let desktop = try await Desktop()
    let program = try desktop.installation.directory.write(Self.store, to: "store", mode: 0o755)
    try desktop.installation.directory.write(
      """
      [Desktop Entry]
      Type=Application
      Name=Files
      Exec=\(program) %u
      Implements=org.tagroute.Handler1;

      [org.tagroute.Handler1]
      Domains=files.example.org;
      """, to: "share/applications/org.example.Files.desktop")
    let server = try await desktop.startWithServer()
    let agent = try await desktop.agent
    // If the tests do not run as root, the entry is not installed by the system, and the agent asks the user.
    let choice = ["handlers", "prefer", "org.example.Files", "files.example.org"]
    #expect(try await desktop.installation.start("tagroute", choice).exit() == .exited(0))

    var generator = SeededGenerator(seed: 20)
    let tags = try (0..<20).map { try Self.tag($0, &generator) }
    var last: Int?
    for number in (0..<200).map({ $0 % tags.count }).shuffled(using: &generator) {
      // The same tag is a new tap only after it was removed.
      if number == last { try await desktop.remove() }
      last = number
      let seen = await agent.log().count
      try await desktop.place(tags[number])
      let shown = try await desktop.notification(on: server)
      #expect(shown.body == Self.link(number))
      #expect(shown.summary == (Self.isForProgram(number) ? "Open in Files" : "Open in Menu"))
      try await server.click(shown)
      if Self.isForProgram(number) {
        let stored = try await agent.line(after: seen) { $0.hasPrefix("stored ") }
        #expect(try readFile(String(stored.dropFirst("stored ".count))) == tags[number].message)
      } else {
        let handed = try await desktop.handed()
        #expect(handed.uri == "https://" + Self.link(number))
        #expect(handed.message == tags[number].message)
      }
    }
    // Eight of the twenty tags belong to the program, with ten taps each.
    #expect(await server.all.count == 200)
    #expect(await desktop.app.count == 120)
    let log = await agent.log()
    #expect(log.count { $0.hasPrefix("stored ") } == 80)
  }

  private static func isForProgram(_ number: Int) -> Bool { number / 4 % 2 == 1 }

  private static func link(_ number: Int) -> String {
    isForProgram(number) ? "files.example.org/\(number)" : Tag.text(number)
  }

  /// Type 2 and Type 4A tags. Some messages are longer than one READ BINARY or a one-byte TLV length can express.
  private static func tag(_ number: Int, _ generator: inout SeededGenerator) throws -> Tag {
    var others: [NDEFRecord] = []
    if number % 4 >= 2 {
      let payload = (0..<300 + number).map { _ in UInt8.random(in: 0...255, using: &generator) }
      others = [NDEFRecord(typeNameFormat: .mediaType, type: Array("application/octet-stream".utf8), payload: payload)]
    }
    return try Tag(number, type: number % 2 == 0 ? 2 : 4, uri: "https://" + link(number), others: others)
  }

  @Test(arguments: [2, 4]) func `a resting tag is shown once`(type: Int) async throws {
    let desktop = try await Desktop(starter: "`a resting tag is shown once`_\(type)")
    let server = try await desktop.startServer()
    let simulator = try await SimulatedReader.start(link: desktop.installation.directory.file("reader"))
    try await desktop.installation.startDaemon()
    try await desktop.installation.startAgent()
    let message = try Tag(1).message
    let first = await simulator.place(type == 2 ? try .type2(.ntag213, message: message) : try .type4(message: message))
    _ = try await desktop.notification(on: server)

    // A presence check is one command, every 120 ms unless the poll interval is shorter than usual.
    let checks = 60_000 / 120
    let before = await simulator.counters.commands
    try await desktop.within("\(checks) checks") {
      try await simulator.wait { $0.counters.commands >= before + checks }
    }
    await simulator.remove(first)
    await simulator.place(try .type2(.ntag213, message: try Tag(2).message))
    #expect(try await desktop.notification(on: server).body == Tag.text(2))
    #expect(await server.all.count == 2)
    await simulator.stop()
  }
}

/// The tag that a test places. Swift Testing has another type of this name.
typealias Tag = IntegrationTests.Tag
