import Names
package import ReaderProtocol
package import Tags

/// The result of one attempt to read a tag.
package struct Reading {
  /// The most attempts to read a tag with doubtful data: it may still be moving towards the reader, or a frame may have
  /// been lost.
  package static let attempts = 3
  /// The time limit for reading one tag, all attempts together.
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

  /// A failed attempt.
  package init(problem: String, doubt: Doubt = .damage) {
    content = .problem(reason: problem)
    self.doubt = doubt
  }

  /// An attempt that ended with a failed exchange.
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

  /// What to tell the user about a tag that could not be read. `reason` is the end of a sentence.
  package static func failed(_ reason: String) -> String {
    "damaged: reading failed: \(reason); hold it to the reader again"
  }

  /// An attempt that was not made, because the card's answer to select does not conform to its standard. Nil if it does.
  package init?(improper tag: TagActivation) {
    guard !tag.isProper else { return nil }
    self.init(problem: "damaged: the card's answer to select (ATS) is malformed")
  }

  /// The content of the last attempt. A tag whose reading is still doubtful is not taken for one without a message.
  /// `before` is the previous attempt.
  package func finalContent(after before: Reading? = nil) -> TagReport.Content {
    guard case .bare(let reason) = content, isDoubtful(after: before) else { return content }
    return .problem(reason: reason)
  }

  /// Whether another attempt may give a different result. `before` is the previous attempt.
  package func isDoubtful(after before: Reading? = nil) -> Bool {
    switch doubt {
    case .none: false
    case .damage: true
    case .silence: before?.content != content
    }
  }
}

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
  package var digits: String { Hexadecimal.text(identifier).lowercased() }

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

/// Recognizing a tag that the daemon knows.
extension KnownTag {
  /// Whether it identifies this tag. `key` is the key of the list.
  package func identifies(_ tag: TagActivation, _ key: TagFingerprint.Key) -> Bool {
    fingerprint == TagFingerprint(tag.type, tag.identifier, key)
  }

  /// Whether it may be this tag with another random identifier.
  package func mayBe(_ tag: TagActivation) -> Bool {
    mayHaveChanged && technology == tag.type && tag.mayChangeIdentifier
  }
}
