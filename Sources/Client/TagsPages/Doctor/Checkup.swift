package import Doctor
import EventLoop

/// When the window examines the system, and what it has found. Pure: events in, actions out.
///
/// One examination runs at a time. While something is wrong, the next one follows after a pause, because no signal says
/// that a package was installed or that a file was changed.
package struct Checkup: Sendable {
  package enum Event: Sendable {
    /// The daemon or the agent may have changed.
    case changed
    /// The user asks for an examination.
    case requested
    /// The pause is over.
    case pauseEnded
    case examined([Finding])
  }

  package enum Action: Sendable, Hashable {
    case examine
    case pause(Duration)
    /// The findings are others, or the user waits for new ones.
    case show
  }

  /// Nil before the first examination.
  package private(set) var findings: [Finding]?
  /// Whether the user waits for the result.
  package private(set) var isRequested = false
  private var isExamining = false
  private var isStale = false
  private var pauses = Backoff(from: .seconds(2), to: .seconds(30))

  package init() {}

  /// What is wrong, then the notes.
  package var toRead: [FindingRow] { rows(.wrong) + rows(.note) }
  package var passed: [FindingRow] { rows(.right) }

  /// The rows of some subjects that are not as they should be.
  package func problems(_ subjects: Set<Finding.Subject>) -> [FindingRow] {
    (findings ?? []).filter { $0.verdict != .right && subjects.contains($0.subject) }.map { FindingRow($0) }
  }

  private func rows(_ verdict: Finding.Verdict) -> [FindingRow] {
    (findings ?? []).filter { $0.verdict == verdict }.map { FindingRow($0) }
  }

  /// Returns the actions, in order.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .changed:
      pauses.reset()
      return examine()
    case .requested:
      isRequested = true
      pauses.reset()
      return [.show] + examine()
    case .pauseEnded: return examine()
    case .examined(let findings):
      isExamining = false
      let isNew = self.findings != findings
      self.findings = findings
      if isStale {
        isStale = false
        return (isNew ? [.show] : []) + examine()
      }
      let shown: [Action] = isNew || isRequested ? [.show] : []
      isRequested = false
      return shown + (findings.contains { $0.verdict == .wrong } ? [.pause(pauses.next())] : [])
    }
  }

  private mutating func examine() -> [Action] {
    isStale = isExamining
    guard !isExamining else { return [] }
    isExamining = true
    return [.examine]
  }
}
