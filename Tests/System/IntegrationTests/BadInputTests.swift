import NDEF
import ReaderSimulator
import TestRig
import Testing

/// Tags with invalid or unwanted content: the agent shows no notification, one log line gives the reason, and the next
/// tag works.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct BadInputTests {
  /// A tag, and the reason in its log line.
  private struct Case {
    let tag: SimulatedTag
    let reason: String
    /// Whether the tag holds a message. Then the agent rejects it, otherwise the daemon does.
    let isMessage: Bool

    init(_ reason: String, _ tag: SimulatedTag) { (self.reason, self.tag, isMessage) = (reason, tag, false) }

    /// A message that the agent does not offer.
    init(_ reason: String, _ message: NDEFMessage) throws {
      self.reason = reason
      tag = try .type2(.ntag213, message: message.encoded())
      isMessage = true
    }
  }

  /// A word on the tags that no log line and no notification may contain.
  private static let secret = "s3cret"

  private static func cases() throws -> [Case] {
    let uid: [UInt8] = [0x04, 0x11, 0x22, 0xBF, 0x33, 0x44, 0x55, 0x66]
    let secretBytes = Array(secret.utf8)
    let link = try NDEFMessage.uri("https://menu.example.com/\(secret)").encoded()
    let image = NDEFRecord(typeNameFormat: .mediaType, type: Array("image/png".utf8), payload: secretBytes)
    return [
      Case(
        "there is no capability container",
        try .type2(memory: uid + (0..<48).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) } + secretBytes)),
      Case("a TLV block is longer than the memory", try .type2(.ultralight, contents: [0x03, 0x40] + link)),
      Case("the NDEF message does not decode", try .type2(.ntag213, contents: [0x03, 0x08, 0xD1, 0x70] + secretBytes)),
      Case("the tag holds no message", try .type2(.ntag213, contents: [0xFD, 0x06] + secretBytes + [0xFE])),
      Case("the NDEF message is longer than the file", try .type4(message: link, options: declaring(5000))),
      Case("the NDEF message does not decode", try .type4(message: link, options: declaring(link.count - 3))),
      Case("the tag holds no message", try .type2(.ntag213, message: [])),
      Case("the tag holds no message", try .type4(message: [])),
      try Case("the message has no URI record", NDEFMessage(records: [image])),
      try Case("control character", .uri("https://menu.example.com/\u{7}\(secret)")),
      try Case("user information", .uri("https://\(secret)@menu.example.com/")),
      try Case("javascript links are never opened", .uri("javascript:\(secret)()")),
      try Case("file links are never opened", .uri("file:///home/\(secret)")),
    ]
  }

  private static func declaring(_ length: Int) -> Type4Options {
    var options = Type4Options()
    options.declaredLength = length
    return options
  }

  @Test func `a tag with bad content shows no notification and logs one line with the reason`() async throws {
    let desktop = try await Desktop()
    let server = try await desktop.startServer()
    let simulator = try await SimulatedReader.start(link: desktop.installation.directory.file("reader"))
    try await desktop.installation.startDaemon()
    try await desktop.installation.startAgent()
    let (daemon, agent) = (try await desktop.daemon, try await desktop.agent)
    try await agent.line(containing: Desktop.registered)

    for (number, bad) in try Self.cases().enumerated() {
      let seen = (await daemon.log().count, await agent.log().count)
      await simulator.removeAll()
      await simulator.place(bad.tag)
      if bad.isMessage {
        try await agent.line(containing: bad.reason, after: seen.1)
      } else {
        try await daemon.line(containing: bad.reason, after: seen.0)
      }
      await simulator.removeAll()
      await simulator.place(try .type4(message: try Tag(number).message))
      #expect(try await server.nextTap().body == Tag.text(number))
      let lines = await daemon.notable(after: seen.0) + agent.notable(after: seen.1)
      #expect(lines.count { $0.contains(bad.reason) } == 1, "\(bad.reason): \(lines)")
      #expect(!lines.contains { $0.contains(Self.secret) }, "\(lines)")
      #expect(await server.all.count(where: \.isTap) == number + 1)
      #expect(await !server.all.contains { $0.body.contains(Self.secret) })
    }
    await simulator.stop()
  }
}
