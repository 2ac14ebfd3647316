package import ReaderLink
package import Tags

/// The result of one attempt to read a tag.
package struct Reading {
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
      self.content = .problem(reason: problem.description)
      doubt = problem.code == .damaged ? .damage : problem.isConcludedFromSilence ? .silence : .none
    }
  }

  /// A failed attempt.
  package init(problem: String, doubt: Doubt = .damage) {
    content = .problem(reason: problem)
    self.doubt = doubt
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
