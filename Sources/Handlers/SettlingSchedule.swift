/// When to read directories again after changes. An installation changes many files, one after the other.
///
/// A pure value: changes and times in, waits out. It waits until there was no change for `quiet`, but at most for
/// `longest`. Without that limit, files that never stop changing would hide new ones.
struct SettlingSchedule: Sendable {
  enum Action: Sendable, Hashable {
    /// Call `elapsed(at:)` after this time.
    case wait(Duration)
    /// Read now.
    case read
    /// A wait is already running.
    case none
  }

  private let quiet: Duration
  private let longest: Duration
  /// The first and the last change that were not read yet, as times since any fixed moment.
  private var pending: (first: Duration, last: Duration)?

  /// - Parameters:
  ///   - quiet: how long the directories must be unchanged before they are read.
  ///   - longest: how long after the first change they are read in any case; at least `quiet`.
  init(quiet: Duration, longest: Duration) {
    self.quiet = quiet
    self.longest = max(quiet, longest)
  }

  /// Reports a change at `time`.
  mutating func changed(at time: Duration) -> Action {
    guard let pending else {
      self.pending = (time, time)
      return .wait(quiet)
    }
    self.pending = (pending.first, time)
    return .none
  }

  /// Reports at `time` that a wait is over.
  mutating func elapsed(at time: Duration) -> Action {
    guard let pending else { return .none }
    let due = min(pending.last + quiet, pending.first + longest)
    guard time < due else {
      self.pending = nil
      return .read
    }
    return .wait(due - time)
  }
}
