/// The part of a reader that a card is in: it finds the card, powers it, and exchanges commands with it.
protocol CardInterface: Sendable {
  /// Puts a card into the slot. Returns whether the reader notices it.
  mutating func place(_ medium: SimulatedCard.Medium, as id: TagID) -> Bool

  /// Takes the card out, with its current contents; nil if there is none.
  mutating func take() -> SimulatedCard.Medium?

  /// Switches the card on, or off and on again. Returns the answer to reset; nil if the card does not answer.
  mutating func powerUp() -> [UInt8]?

  /// Switches the card off.
  mutating func powerDown()

  /// The answer to a command of a client.
  mutating func transmit(_ command: [UInt8]) -> DriverAnswer

  /// Whether the card has been taken away during a command.
  var hasLostCard: Bool { get }

  /// Whether a transparent session is open.
  var isInSession: Bool { get }

  /// The card's whole permanent memory; nil if there is no card.
  var memory: [UInt8]? { get }
}

/// A slot for cards with contacts.
struct ContactInterface: CardInterface {
  private var card: (application: any CardApplication, answerToReset: [UInt8])?

  mutating func place(_ medium: SimulatedCard.Medium, as id: TagID) -> Bool {
    guard case .contact(let application, let answerToReset) = medium else { return false }
    card = (application, answerToReset)
    return true
  }

  mutating func take() -> SimulatedCard.Medium? {
    powerDown()
    defer { card = nil }
    return card.map { .contact($0.application, answerToReset: $0.answerToReset) }
  }

  mutating func powerUp() -> [UInt8]? {
    powerDown()
    return card?.answerToReset
  }

  mutating func powerDown() { card?.application.deselect() }

  mutating func transmit(_ command: [UInt8]) -> DriverAnswer {
    guard let answer = card?.application.respond(to: command) else { return .failure(.communicationError) }
    return .success(answer)
  }

  var hasLostCard: Bool { false }

  var isInSession: Bool { false }

  var memory: [UInt8]? { card?.application.memory }
}
