import ReaderLink
import Tags

/// What one attempt to read a tag has brought.
struct Reading {
  let content: TagReport.Content
  /// Whether a second attempt may bring something else: a tag that is on its way to the reader is read half.
  let isDoubtful: Bool

  init(_ content: TagContent) {
    switch content {
    case .message(let bytes):
      self.content = .message(bytes)
      isDoubtful = false
    case .problem(let problem):
      self.content = .problem(reason: problem.description)
      isDoubtful = problem.code == .damaged
    }
  }

  /// The attempt failed.
  init(problem: String, isDoubtful: Bool = true) {
    content = .problem(reason: problem)
    self.isDoubtful = isDoubtful
  }
}
