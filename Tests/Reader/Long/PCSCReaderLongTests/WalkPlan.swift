import Names
import TestKit

@testable import PCSCReaderSystemTests
@testable import ReaderSimulator

/// The steps of a walk: random cards with random faults. The same seed gives the same steps.
struct WalkPlan: Hashable {
  /// Each walk uses one of these models.
  static let models: [CardReaderModel] = [.acr1252U, .acr1552U, .uTrust3700, .acr122U, .omnikey5427, .omnikey5022]

  let model: CardReaderModel
  let steps: [WalkStep]

  init(seed: UInt64, count: Int) {
    let model = Self.models[Int(seed % UInt64(Self.models.count))]
    let kinds = TagKind.allCases.filter { $0.isReadable(on: model) }
    var random = SeededGenerator(seed: seed)
    var steps: [WalkStep] = []
    for number in 1...count {
      let card = Self.card(kinds, &random)
      let fault = Self.fault(card, &random)
      let neighbour = Self.occurs(10, &random) ? UntouchedCardTests.Card.allCases.randomElement(using: &random) : nil
      steps.append(WalkStep(seed: seed, number: number, card: card, fault: fault, neighbour: neighbour))
    }
    self.model = model
    self.steps = steps
  }

  /// Returns true in so many of 100 cases.
  private static func occurs(_ percentage: Int, _ random: inout SeededGenerator) -> Bool {
    Int.random(in: 0..<100, using: &random) < percentage
  }

  private static func card(_ kinds: [TagKind], _ random: inout SeededGenerator) -> WalkCard {
    switch Int.random(in: 0..<100, using: &random) {
    case ..<12: UntouchedCardTests.Card.allCases.randomElement(using: &random).map(WalkCard.foreign) ?? .payment
    case ..<17: .payment
    case ..<24: .changing
    default: kinds.randomElement(using: &random).map(WalkCard.tag) ?? .changing
    }
  }

  private static func fault(_ card: WalkCard, _ random: inout SeededGenerator) -> WalkFault {
    guard card.leastCommands > 0 else { return occurs(25, &random) ? .mute(times: 1) : .none }
    let command = Int.random(in: 1...card.leastCommands, using: &random)
    let decision = Bool.random(using: &random)
    return switch Int.random(in: 0..<100, using: &random) {
    case ..<40: .none
    case ..<50: .failure(command: command)
    case ..<60: .silence(command: command, executed: decision)
    case ..<69: .flicker(command: command)
    case ..<78: .removal(command: command, executed: decision)
    case ..<84: .mute(times: decision ? 1 : 2)
    case ..<92: .transaction(resets: decision)
    case ..<96: .reset(command: command)
    default: .rival
    }
  }
}

enum WalkCard: Hashable {
  case tag(TagKind)
  /// A tag of Type 4A with a message, and with another identifier each time it gets power.
  case changing
  /// A bank card without contacts. It has no message.
  case payment
  /// A card with the answer to reset of a card with contacts. A reader may have one slot for both.
  case foreign(UntouchedCardTests.Card)

  func make(_ message: [UInt8]) throws -> SimulatedCard {
    switch self {
    case .tag(let kind): SimulatedCard(try kind.make(message))
    case .changing: SimulatedCard(try .type4(message: message, uid: .random))
    case .payment: SimulatedCard(.paymentCard())
    case .foreign(let card): try Self.foreign(card, message)
    }
  }

  /// A tag that could be read, if the process sent it a command.
  private static func foreign(_ card: UntouchedCardTests.Card, _ message: [UInt8]) throws -> SimulatedCard {
    let tag = SimulatedCard(try .type2(.ntag213, message: message))
    guard case .contact(_, let answerToReset) = card.make().medium else { return tag }
    return try tag.answeringReset(with: answerToReset)
  }

  /// The type that is announced.
  var type: TagType {
    switch self {
    case .tag(let kind): kind.type
    case .changing, .payment: .type4A
    case .foreign: .type2
    }
  }

  /// The least number of commands with which a message of a walk is read, on any reader of a walk. A fault in one of
  /// them comes before the announcement.
  var leastCommands: Int {
    switch self {
    case .tag(.type1): 2
    case .tag(.type2), .tag(.type3), .tag(.type5), .payment: 3
    case .tag(.type4A), .tag(.type4B), .changing: 6
    case .tag(.mifareClassic): 7
    case .foreign: 0
    }
  }
}

/// What happens to a tap. Commands are counted from 1.
enum WalkFault: Hashable {
  case none
  /// The reader answers one command with `63 00`.
  case failure(command: Int)
  /// One command gets no answer.
  case silence(command: Int, executed: Bool)
  /// The card leaves in a command, and is back at once.
  case flicker(command: Int)
  /// The card leaves in a command. The test places it again.
  case removal(command: Int, executed: Bool)
  /// The card gets no power at the first attempts.
  case mute(times: Int)
  /// Another program has a transaction when the process finds the card. It may reset the card in its transaction.
  case transaction(resets: Bool)
  /// Another program requests a reset during a command of the process.
  case reset(command: Int)
  /// Another program uses and resets the card at the same time, in any order.
  case rival

  /// How often the simulated reader has to do something wrong.
  var strikes: Int {
    switch self {
    case .none, .transaction, .rival: 0
    case .failure, .silence, .flicker, .removal, .reset: 1
    case .mute(let times): times
    }
  }
}

/// One tap of a walk.
struct WalkStep: Hashable, CustomStringConvertible {
  enum Expectation: Hashable {
    /// One announcement, with the message.
    case message
    /// One announcement of a card that has no message.
    case problem
    /// One announcement, with the message or with a problem.
    case either
    /// No announcement, and no command to the card.
    case nothing
  }

  let seed: UInt64
  let number: Int
  let card: WalkCard
  let fault: WalkFault
  /// A card that first takes the place of the previous one in a slot for cards with contacts.
  let neighbour: UntouchedCardTests.Card?

  /// A link that no other step has.
  var link: String { "https://example.com/\(seed)/\(number)" }

  var expectation: Expectation {
    switch (card, fault) {
    case (.foreign, _): .nothing
    case (.payment, _): .problem
    // The word replaces the answer to SELECT of the NDEF application. A card may refuse with this word, too.
    case (.tag(.type4A), .failure(command: 2)), (.changing, .failure(command: 2)),
      (.tag(.type4B), .failure(command: 3)):
      .either
    default: .message
    }
  }

  var description: String { "seed \(seed), step \(number): \(card), \(fault)" }
}
