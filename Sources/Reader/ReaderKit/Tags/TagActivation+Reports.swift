import Names
package import ReaderProtocol
package import Tags

extension TagActivation {
  /// Whether the tag speaks ISO/IEC 14443-4.
  package var isISODEP: Bool { type == .type4A || type == .type4B }

  /// Whether the card's answer to select conforms to its standard, so that the chip speaks its protocol with it. Also
  /// true if the reader itself speaks the protocol and does not report the answer.
  package var isProper: Bool {
    guard case .typeA(let tag) = self, tag.type == .type4A else { return true }
    return tag.hasValidATS && (tag.sak == nil || !tag.ats.isEmpty)
  }

  /// The identifier in hexadecimal digits, for the log.
  package var digits: String { identifier.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined() }

  /// The report of the tag for the daemon.
  package func sessionTag(_ number: UInt64, application: Int?) -> SessionTag {
    var tag = SessionTag(placement: Placement(number, self), initialApplication: application)
    switch self {
    case .typeA(let activation):
      tag.atqa = activation.atqa
      tag.sak = activation.sak
      tag.historicalBytes = activation.historicalBytes
    case .typeB(let activation):
      tag.applicationData = activation.applicationData
      tag.protocolInfo = activation.protocolInfo
    case .felica(let activation):
      tag.idm = activation.idm
      tag.pmm = activation.pmm
      tag.systemCode = activation.systemCode.map { $0.reduce(0) { $0 << 8 | UInt16($1) } }
    case .jewel(let activation): tag.atqa = activation.atqa
    case .typeV: break
    }
    return tag
  }
}

extension Placement {
  package init(_ number: UInt64, _ tag: TagActivation) {
    self.init(number: number, technology: tag.type, uid: tag.identifier)
  }
}
