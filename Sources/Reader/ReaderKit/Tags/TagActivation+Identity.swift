import ReaderProtocol
package import Tags

/// Comparing tags. An identifier does not prove identity: some tags choose a new one whenever they get power.
extension TagActivation {
  /// Whether the identifier may change each time the field comes on.
  package var mayChangeIdentifier: Bool { KnownTag.mayChange(type, identifier) }

  /// Whether it is the same tag, by its kind and its identifier.
  package func isSameTag(as other: TagActivation) -> Bool { type == other.type && identifier == other.identifier }

  /// Whether it may be the same tag with another identifier: the rest of the activation is equal.
  package func isAlike(_ other: TagActivation) -> Bool {
    guard mayChangeIdentifier, other.mayChangeIdentifier else { return false }
    switch (self, other) {
    case (.typeA(let a), .typeA(let b)):
      return a.type == b.type && a.atqa == b.atqa && a.sak == b.sak && a.ats == b.ats
        && a.historicalBytes == b.historicalBytes
    case (.typeB(let a), .typeB(let b)):
      return a.applicationData == b.applicationData && a.protocolInfo == b.protocolInfo
    case (.felica(let a), .felica(let b)): return a.pmm == b.pmm && a.systemCode == b.systemCode
    default: return false
    }
  }

  /// Whether it is or may be the same tag, as far as can be determined without reading it.
  package func isSamePlacement(as other: TagActivation) -> Bool { isSameTag(as: other) || isAlike(other) }
}
