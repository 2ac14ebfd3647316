import Names
package import ReaderProtocol
package import Tags

/// The result of one attempt to read a tag.
package struct Reading {
  /// The most attempts to read a tag with doubtful data: it may still be moving towards the reader, or a frame may have
  /// been lost.
  package static let attempts = 3
  /// For one tag, all attempts together.
  package static let allowance = Duration.seconds(10)

  package let content: TagReport.Content
  /// Why another attempt may give a different result.
  package enum Doubt {
    case none
    /// A tag that is still moving towards the reader is read only in part.
    case damage
    /// The tag was silent, once, and may not have received the command.
    case silence
  }

  private let doubt: Doubt

  package init(_ content: TagContent) {
    switch content {
    case .message(let bytes):
      self.content = .message(bytes)
      doubt = .none
    case .problem(let problem):
      let reason = problem.description
      self.content =
        problem.code == .damaged
        ? .damaged(reason: reason, contents: problem.contents)
        : Self.codesWithoutMessage.contains(problem.code) ? .bare(reason: reason) : .problem(reason: reason)
      doubt = problem.code == .damaged ? .damage : problem.isConcludedFromSilence ? .silence : .none
    }
  }

  /// The states of a tag that is intact and has no message that can be read.
  private static let codesWithoutMessage: [TagProblem.Code] = [.empty, .notNDEF, .blank, .unsupported]

  private init(_ content: TagReport.Content, _ doubt: Doubt) {
    self.content = content
    self.doubt = doubt
  }

  package init(problem: String, doubt: Doubt = .damage) {
    content = .problem(reason: problem)
    self.doubt = doubt
  }

  package init(failure error: TagChannelError) {
    let reason = "unsupported: \(error.reason)"
    if error.code == .unsupported {
      // The reader cannot send the commands of this kind of tag, so it can only identify it.
      self.init(.bare(reason: reason), .none)
    } else if [.tooSlow, .tooManyExchanges].contains(error.code) {
      self.init(problem: reason, doubt: .none)
    } else {
      self.init(problem: Self.failed(error.reason))
    }
  }

  /// For the user. `reason` is the end of a sentence.
  package static func failed(_ reason: String) -> String {
    "damaged: reading failed: \(reason); hold it to the reader again"
  }

  /// An attempt that was not made, because the card's answer to select does not conform to its standard. Nil if it
  /// does.
  package init?(improper tag: TagActivation) {
    guard !tag.isProper else { return nil }
    self.init(problem: "damaged: the card's answer to select (ATS) is malformed")
  }

  /// A tag whose reading is still doubtful does not get the result "without a message". `before` is the previous
  /// attempt.
  package func finalContent(after before: Reading? = nil) -> TagReport.Content {
    guard case .bare(let reason) = content, isDoubtful(after: before) else { return content }
    return .problem(reason: reason)
  }

  /// Another attempt may give a different result. `before` is the previous attempt.
  package func isDoubtful(after before: Reading? = nil) -> Bool {
    switch doubt {
    case .none: false
    case .damage: true
    case .silence: before?.content != content
    }
  }
}

extension TagActivation {
  /// The tag speaks ISO/IEC 14443-4.
  package var isISODEP: Bool { type == .type4A || type == .type4B }

  /// The card's answer to select conforms to its standard, so that the chip speaks its protocol with it. Also true if
  /// the reader itself speaks the protocol and does not report the answer.
  package var isProper: Bool {
    guard case .typeA(let tag) = self, tag.type == .type4A else { return true }
    return tag.hasValidATS && (tag.sak == nil || !tag.ats.isEmpty)
  }

  /// Hexadecimal, for the log.
  package var digits: String { Hexadecimal.text(identifier).lowercased() }

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

/// Comparing tags. An identifier does not prove identity: some tags choose a new one whenever they get power.
extension TagActivation {
  /// Each time the field comes on.
  package var mayChangeIdentifier: Bool { KnownTag.mayChange(type, identifier) }

  /// By kind and identifier.
  package func isSameTag(as other: TagActivation) -> Bool { type == other.type && identifier == other.identifier }

  /// Only the identifier may differ.
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

  /// The same tag, or maybe the same, as far as can be determined without reading it.
  package func isSamePlacement(as other: TagActivation) -> Bool { isSameTag(as: other) || isAlike(other) }
}

/// Recognizing a tag that the daemon knows.
extension KnownTag {
  /// `key` is the key of the list.
  package func identifies(_ tag: TagActivation, _ key: TagFingerprint.Key) -> Bool {
    fingerprint == TagFingerprint(tag.type, tag.identifier, key)
  }

  /// With another random identifier.
  package func mayBe(_ tag: TagActivation) -> Bool {
    mayHaveChanged && technology == tag.type && tag.mayChangeIdentifier
  }
}
