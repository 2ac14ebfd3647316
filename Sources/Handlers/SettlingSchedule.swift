/// When directories are read again after changes: an installation changes many files, one after the other.
///
/// A value: changes and times in, waits out. It waits until nothing has changed for `quiet`, and for `longest` at the most, so that
/// something that never stops changing does not keep what is new from being seen.
struct SettlingSchedule: Sendable {
  /// What the caller does.
  enum Action: Sendable, Hashable {
    /// Come back with `elapsed(at:)` after so long.
    case wait(Duration)
    /// Read now.
    case read
    /// Nothing: a wait is under way already.
    case none
  }

  private let quiet: Duration
  private let longest: Duration
  /// The first and the last change that were not read yet, as times since any one moment.
  private var pending: (first: Duration, last: Duration)?

  /// - Parameters:
  ///   - quiet: how long nothing may have changed before it is read.
  ///   - longest: how long after the first change it is read whatever happens; at least `quiet`.
  init(quiet: Duration, longest: Duration) {
    self.quiet = quiet
    self.longest = max(quiet, longest)
  }

  /// Something has changed at `time`.
  mutating func changed(at time: Duration) -> Action {
    guard let pending else {
      self.pending = (time, time)
      return .wait(quiet)
    }
    self.pending = (pending.first, time)
    return .none
  }

  /// A wait is over at `time`.
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
