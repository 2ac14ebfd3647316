import ReaderLink
import Tags

/// What one attempt to read a tag has brought.
struct Reading {
  let content: TagReport.Content
  /// Why another attempt may bring something else.
  enum Doubt {
    case none
    /// A tag that is on its way to the reader is read half.
    case damage
    /// The tag was silent where it may not have heard, once.
    case silence
  }

  private let doubt: Doubt

  init(_ content: TagContent) {
    switch content {
    case .message(let bytes):
      self.content = .message(bytes)
      doubt = .none
    case .problem(let problem):
      self.content = .problem(reason: problem.description)
      doubt = problem.code == .damaged ? .damage : problem.isConcludedFromSilence ? .silence : .none
    }
  }

  /// The attempt failed.
  init(problem: String, doubt: Doubt = .damage) {
    content = .problem(reason: problem)
    self.doubt = doubt
  }

  /// - Parameter before: what the attempt before has brought.
  /// - Returns: whether another one may bring something else.
  func isDoubtful(after before: Reading? = nil) -> Bool {
    switch doubt {
    case .none: false
    case .damage: true
    case .silence: before?.content != content
    }
  }
}
