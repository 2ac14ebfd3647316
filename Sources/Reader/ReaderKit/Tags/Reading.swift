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
