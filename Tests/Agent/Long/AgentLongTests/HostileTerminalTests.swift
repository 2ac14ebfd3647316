import Foundation
import NDEF
import TestKit
import Testing

@testable import AgentSystemTests
@testable import AgentTests

/// Text from a tag, a desktop entry or a file name cannot control the terminal when the command line prints it.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct HostileTerminalTests {
  /// Messages with the text in every text field of a record.
  private static func messages(_ text: String) throws -> [[UInt8]] {
    let bytes = Array(text.utf8)
    let short = Array(bytes.prefix(200))
    let records: [NDEFRecord] = [
      URIRecord("https://menu.example.com/" + text).record(),
      try TextRecord(text, language: "en").record(id: short),
      try TextRecord(text, language: "en", encoding: .utf16).record(),
      try SmartPosterRecord(
        uri: "https://menu.example.com/a", titles: [TextRecord(text, language: "en")]
      ).record(),
      NDEFRecord(typeNameFormat: .mediaType, type: short, id: short, payload: bytes),
      NDEFRecord(typeNameFormat: .external, type: short, payload: bytes),
      NDEFRecord(typeNameFormat: .absoluteURI, type: short, payload: bytes),
      // Invalid UTF-8, and invalid UTF-16 with half of a surrogate pair.
      NDEFRecord(typeNameFormat: .wellKnown, type: [0x54], payload: [2, 0x65, 0x6E, 0xFF, 0x1B] + bytes),
      NDEFRecord(typeNameFormat: .wellKnown, type: [0x54], payload: [0x82, 0x65, 0x6E, 0xD8, 0x00, 0, 0x1B]),
    ]
    return try records.map { try NDEFMessage(records: [$0]).encoded() }
      + [
        NDEFMessage(records: records).encoded(),
        NDEFMessage(records: NDEFMessage.uri("https://menu.example.com/b").records + records).encoded(),
      ]
  }

  /// Checks all output about the inbox and about these taps.
  private func expectHarmless(_ rig: AgentRig, _ numbers: some Sequence<Int>) async throws {
    var commands = [["inbox"], ["inbox", "--json"], ["inbox", "export", "--all", "-"]]
    for number in numbers {
      commands += [["inbox", "show", tapID(number)], ["inbox", "show", tapID(number), "--json"]]
    }
    for command in commands {
      let result = try await rig.installation.tagroute(command)
      #expect(result.status == .exited(0), "\(command): \(result.errors)")
      #expect(!result.output.isEmpty)
      #expect(
        HostileText.unsafe(in: result.output).isEmpty, "\(command): \(result.output.debugDescription.prefix(2000))")
      guard !command.contains("--json") && !command.contains("export") else { continue }
      let longest = result.output.split(separator: "\n").map(\.utf8.count).max() ?? 0
      #expect(longest < 20_000, "\(command): a line of \(longest) bytes")
    }
  }

  @Test func `hostile texts in every field of a message are escaped`() async throws {
    let rig = try await AgentRig.withAgent()
    let monitor = try await rig.installation.start("tagroute", ["monitor"])
    try await monitor.line(containing: "the daemon stopped")
    var number = 0
    var chosen: [Int] = []
    for sample in HostileText.samples {
      for message in try Self.messages(sample.text) {
        try await rig.daemon.give(tapValues(number, message: message))
        number += 1
      }
      // The last message has the text in all fields.
      chosen += [number - 11, number - 1]
    }
    try await expectHarmless(rig, chosen)
    // JSON has the complete text unchanged.
    for (index, sample) in HostileText.samples.enumerated() {
      let tap = try await rig.json("inbox", "show", tapID(index * 11 + 1)) as? [String: Any]
      let record = (tap?["records"] as? [[String: Any]])?.first
      #expect(record?["text"] as? String == sample.text, Comment(rawValue: sample.name))
    }
    try await monitor.line(containing: tapID(number - 1))
    #expect(HostileText.unsafe(in: await monitor.standardOutput()).isEmpty)
    let named = (1...22).map { tapID(number - $0) }
    for command in [
      ["status"], ["status", "--json"], ["inbox", "clear", "--yes"] + named, ["inbox", "clear", "--all", "--yes"],
    ] {
      let process = try await rig.installation.start("tagroute", command)
      _ = try await process.exit()
      let printed = await process.log().joined(separator: "\n")
      #expect(HostileText.unsafe(in: printed).isEmpty, "\(command): \(printed.debugDescription.prefix(2000))")
    }
  }

  @Test(arguments: [1, 2] as [UInt64]) func `random messages are escaped`(seed: UInt64) async throws {
    let rig = try await AgentRig.withAgent(starter: "`random messages are escaped`_\(seed)")
    var random = SeededGenerator(seed: seed)
    let pieces =
      HostileText.samples.dropLast().flatMap { Array($0.text.unicodeScalars) } + Array("abc/:.é東🍽".unicodeScalars)
    for number in 0..<60 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 1...60, using: &random) {
        text.append(pieces.randomElement(using: &random) ?? "a")
      }
      var message = try Self.messages(String(text)).randomElement(using: &random) ?? []
      // Some messages are damaged and may be invalid.
      if number % 4 == 0, !message.isEmpty {
        message[Int.random(in: 0..<message.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      try await rig.daemon.give(tapValues(number, message: message))
    }
    try await expectHarmless(rig, stride(from: 0, to: 60, by: 6))
  }

  @Test func `hostile app names, file names and command line arguments are escaped`() async throws {
    let rig = try await AgentRig()
    for (number, sample) in HostileText.samples.enumerated() where !sample.text.contains("\0") {
      // A line break would end the key.
      let name = sample.text.replacing("\n", with: "\\n").replacing("\r", with: "\\r")
      let entry = """
        [Desktop Entry]
        Type=Application
        Name=\(name)
        Exec=/bin/true \(name)
        Implements=org.tagroute.Handler1;

        [org.tagroute.Handler1]
        Domains=menu.example.com;\(number % 2 == 0 ? name : "")
        Links=\(name)
        """
      let file = sample.text.unicodeScalars.filter { $0 != "/" }.prefix(20).map(String.init).joined()
      try rig.installation.directory.write(entry, to: "home/share/applications/evil\(number)\(file).desktop")
    }
    try await rig.startAgent()
    var commands = [["handlers"], ["handlers", "--json"], ["handlers", "--check"]]
    for sample in HostileText.samples where !sample.text.contains("\0") {
      let uri = "https://menu.example.com/" + sample.text.prefix(2000)
      commands += [
        ["resolve", uri], ["resolve", "--explain", uri], ["resolve", "--json", uri], ["resolve", sample.text],
      ]
      commands += [
        ["inbox", "show", String(sample.text.prefix(2000))], ["inbox", "--state", String(sample.text.prefix(2000))],
        ["inbox", "clear", "--yes", String(sample.text.prefix(2000))],
        ["handlers", "verify", String(sample.text.prefix(2000)), "--server", "127.0.0.1:9"],
      ]
    }
    for command in commands {
      let process = try await rig.installation.start("tagroute", command)
      _ = try await process.exit()
      let printed = await process.log().joined(separator: "\n")
      #expect(HostileText.unsafe(in: printed).isEmpty, "\(command): \(printed.debugDescription.prefix(2000))")
    }
  }
}
