import Names
import Tags

extension TagType {
  /// A PN53x has none for Type 5.
  fileprivate var modulations: [Modulation] {
    switch self {
    case .type1: [.jewel]
    case .type3: [.felica212, .felica424]
    case .type4B: [.typeB]
    case .type5: []
    case .type2, .type4A, .mifareClassic, .peer: [.typeA]
    }
  }
}

extension [TagType] {
  var modulations: Set<Modulation> { Set(flatMap(\.modulations)) }

  /// Whether a user who wants these types wants this one too. The configuration cannot name `peer`, but for a user who
  /// wants phones, a phone that cannot be read is reported.
  func include(_ type: TagType) -> Bool { contains(type) || type == .peer && contains(.type4A) }
}

extension Modulation {
  func mayHave(_ type: TagType) -> Bool { type.modulations.contains(self) }
}

extension TagActivation {
  /// The only system that a FeliCa card has answered for; nil if it is not known.
  var felicaSystem: [UInt16]? {
    guard case .felica(let card) = self, let code = card.systemCode else { return nil }
    return [code.reduce(0) { $0 << 8 | UInt16($1) }]
  }

  /// Finds this tag again. Nil for Type 5, which a PN53x never finds.
  var modulation: Modulation? {
    switch self {
    case .typeA: .typeA
    case .typeB: .typeB
    case .felica(let tag): tag.bitRate == 424 ? .felica424 : .felica212
    case .jewel: .jewel
    case .typeV: nil
    }
  }
}
