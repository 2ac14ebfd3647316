import Names

extension CardSlot.Card {
  /// The kind of card that the answer to reset describes.
  var kind: CardKind { AnswerToReset(state.atr).kind }

  /// Whether the card may be connected to. A card without power does not tell its kind. A slot for contactless cards has
  /// no others.
  var mayBeContactless: Bool { isWithoutPower || kind.isContactless }

  /// Whether the card may be a tag of one of these types.
  func mayBe(_ wanted: Set<TagType>) -> Bool {
    if isWithoutPower { return true }
    return kind.types.map { types in !wanted.isDisjoint(with: types) } ?? true
  }
}

extension CardSlot.Card {
  /// Why no attempt to read the card can succeed, and the type of tag that is nearest to it; nil if one may. It is
  /// reported without a connection.
  var obstacle: (type: TagType, reason: String)? {
    guard !isWithoutPower, case .storage(let card) = kind, case .none(let reason) = card.treatment else { return nil }
    switch card.standard {
    case .iso15693: return (.type5, reason)
    case .typeB: return (.type4B, reason)
    case .feliCa: return (.type3, reason)
    default: return (.type2, reason)
    }
  }
}

extension CardKind {
  /// The types of tags that it may be; nil if the answer to reset does not tell.
  fileprivate var types: [TagType]? {
    switch self {
    case .contact, .unknown: []
    case .isoDEPTypeA: [.type4A]
    // A card of Type A may look like one of Type B.
    case .isoDEPTypeB: [.type4A, .type4B]
    case .storage(let card):
      switch card.treatment {
      case .tag(let type): [type]
      case .mifareClassic: [.mifareClassic]
      case .feliCa: [.type3]
      case .probe: [.type2]
      // The user learns the reason.
      case .none: nil
      }
    }
  }
}
