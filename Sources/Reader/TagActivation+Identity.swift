import ReaderLink
import Tags

/// What tells one tag from another. An identifier is no identity: some tags make up a new one whenever they get power.
extension TagActivation {
  /// Whether the identifier may be another one each time the field comes on.
  var mayChangeIdentifier: Bool { KnownTag.mayChange(type.description, identifier) }

  /// Whether it is the same tag, by its kind and its identifier.
  func isSameTag(as other: TagActivation) -> Bool { type == other.type && identifier == other.identifier }

  /// Whether it may be the same tag with another identifier: everything else that they say is the same.
  func isAlike(_ other: TagActivation) -> Bool {
    guard mayChangeIdentifier, other.mayChangeIdentifier else { return false }
    switch (self, other) {
    case (.typeA(let a), .typeA(let b)): return a.atqa == b.atqa && a.sak == b.sak && a.ats == b.ats
    case (.typeB(let a), .typeB(let b)):
      return a.applicationData == b.applicationData && a.protocolInfo == b.protocolInfo
    case (.felica(let a), .felica(let b)): return a.pmm == b.pmm && a.systemCode == b.systemCode
    default: return false
    }
  }

  /// Whether it is the same tag as far as can be told without reading it.
  func isSamePlacement(as other: TagActivation) -> Bool { isSameTag(as: other) || isAlike(other) }
}

extension Modulation {
  /// Whether a look for it may find tags of that kind, by the kind's name.
  func mayHave(_ technology: String) -> Bool {
    switch technology {
    case "type-1": self == .jewel
    case "type-3": isFeliCa
    case "type-4b": self == .typeB
    default: self == .typeA
    }
  }
}
