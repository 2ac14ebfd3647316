import ReaderSimulator
import TestKit
import Testing

/// Taps on readers that pcscd drives: each leads to one notification and one message.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardTapTests {
  enum Kind: String, CaseIterable, Sendable {
    case type2, type3, type4, type4B, type5, mifareClassic, desfire

    func tag(_ message: [UInt8]) throws -> SimulatedTag {
      switch self {
      case .type2: try .type2(.ntag215, message: message)
      case .type3: try .type3(message: message)
      case .type4: try .type4(message: message)
      case .type4B: try .type4B(message: message)
      case .type5: try .type5(.slix2, message: message)
      case .mifareClassic: try .mifareClassic(.classic1K, message: message, uid: .fixed([0x04, 1, 2, 3]))
      case .desfire: try .desfire(message: message)
      }
    }
  }

  @Test func `a tap with a tag of each type leads to one notification and one message`() async throws {
    let desk = try await CardDesktop.started([.acr1552U])
    let message = try Tag(1).message
    for (round, kind) in Kind.allCases.enumerated() {
      let card = try await desk.place(try kind.tag(message))
      let shown = try await desk.shown()
      #expect(shown.body == Tag.text(1))
      try await desk.server.click(shown)
      #expect(try await desk.desktop.handed().message == message)
      try await desk.remove(card)
      #expect(await desk.desktop.app.count == round + 1)
      #expect(await desk.server.all.count(where: \.isTap) == round + 1)
    }
  }
}
