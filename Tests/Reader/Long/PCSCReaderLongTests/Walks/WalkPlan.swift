import TestKit

@testable import PCSCReaderSystemTests

@testable import ReaderSimulator

/// The steps of a walk: random cards with random faults. The same seed gives the same steps.
struct WalkPlan: Hashable {
  /// The models of which each walk uses one.
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
