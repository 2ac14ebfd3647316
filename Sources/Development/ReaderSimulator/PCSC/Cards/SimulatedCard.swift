/// A card for a virtual PC/SC reader: a tag without contacts, or a card with contacts.
package struct SimulatedCard: Sendable {
  enum Medium: Sendable {
    case contactless(any FieldTag)
    /// A card with contacts and its answer to reset.
    case contact(any CardApplication, answerToReset: [UInt8])
  }

  var medium: Medium
  /// Replaces the answer to reset that the reader makes up, or that the card has.
  private(set) var answerToReset: [UInt8]?

  init(_ medium: Medium) { self.medium = medium }

  /// A tag as it lies on any simulated reader. The reader finds it only if its model knows the technology.
  package init(_ tag: SimulatedTag) { medium = .contactless(tag.tag) }

  /// A card with contacts that refuses every command. It serves to show that no program sends it one.
  package static func contact() -> SimulatedCard {
    SimulatedCard(.contact(RefusingApplication(), answerToReset: [0x3B, 0x02, 0x14, 0x50]))
  }

  /// A bank card with contacts, with the directory of its payment applications and nothing else.
  package static func paymentChip() -> SimulatedCard {
    SimulatedCard(
      .contact(
        PaymentApplication(),
        answerToReset: [
          0x3B, 0x6E, 0x00, 0x00, 0x00, 0x62, 0x00, 0x00, 0x57, 0x41, 0x56, 0x49, 0x44, 0x4D, 0x10, 0x81, 0x90, 0x00,
        ]))
  }

  /// The same card with any answer to reset, right or wrong: 0 to 33 bytes. Fails if there are more.
  package func answeringReset(with bytes: [UInt8]) throws(SimulatorError) -> SimulatedCard {
    guard bytes.count <= 33 else { throw SimulatorError("an answer to reset has at most 33 bytes, not \(bytes.count)") }
    var card = self
    card.answerToReset = bytes
    return card
  }

  /// The card's tag, with its contents; nil if it has contacts.
  package var tag: SimulatedTag? {
    if case .contactless(let tag) = medium { SimulatedTag(tag: tag) } else { nil }
  }

  /// The whole permanent memory.
  package var memory: [UInt8] {
    switch medium {
    case .contactless(let tag): tag.memory
    case .contact(let application, _): application.memory
    }
  }

  var hasContacts: Bool { if case .contact = medium { true } else { false } }
}

/// An application that answers every command with "instruction not supported".
struct RefusingApplication: CardApplication {
  var memory: [UInt8] { [] }
  var writeTear: WriteTear?

  mutating func deselect() {}

  mutating func respond(to command: [UInt8]) -> [UInt8] { [0x6D, 0x00] }
}
