import Names
import TagrouteClient

/// The course of a command during its reader session, and its result.
///
/// Pure: events in, actions out. It works on one tag at a time, and always closes the session.
struct TagRun<Tag: Hashable & Sendable>: Sendable {
  enum Event: Sendable {
    /// The session was started, and may have to wait for the reader. A daemon of interface version 1 does not report
    /// the end of a round.
    case began(reportsRounds: Bool = true)
    case notBegun(Failure)
    case activated
    /// A tag, and its name. The next session recognises the tag by the name.
    case detected(Tag, name: String)
    /// All tags that lie there together have been reported.
    case roundEnded
    /// All tags that lay there when the session became active have been reported.
    case settled
    case removed(Tag)
    /// The session did not end shortly after the tag was removed. So the removal was real.
    case forgotten(Tag)
    case progress(UInt64)
    case ended(ReaderSessionEnd)
    /// The operation on a tag is done, or has failed.
    case worked(Failure?)
    /// The request to close the session has ended, with or without a reply.
    case closed
    case interrupted(Int32)
    case timeIsUp
  }

  enum Action: Equatable, Sendable {
    case start
    /// Starts a session as soon as the daemon is back and a reader is ready.
    case startAgain
    case show(String)
    case hide
    case work(Tag)
    case print
    /// Reports a failure and continues.
    case report(Failure)
    /// Sends `.settled` after a few seconds.
    case settle
    /// Sends `.forgotten` after a second.
    case forget(Tag)
    /// Closes the session. The text is the error on its sheet.
    case close(String?)
    case finish(Outcome)
  }

  enum Outcome: Equatable, Sendable {
    case done
    case failed(Failure)
    case signalled(Int32)
  }

  /// Whether to work on one tag after the other, or only on the first.
  let isFollowing: Bool
  /// For the message of a timeout.
  let timeout: Int?
  /// After how many tags a run that follows is done; nil for no limit.
  let count: Int?
  /// Whether the work may change the tag. A run on one tag then waits for the end of the round, and fails if it has
  /// several tags: the user could not know which one was changed. If the daemon does not report the end, it works on
  /// the first tag at once, because it would wait in vain.
  let mayChange: Bool
  private var reportsRounds = true
  /// The names of the tags that are done. Only a run with a count remembers them, and ignores them if they come back.
  private var done: Set<String> = []
  /// Whether the time was over during the work on a tag, which must not be interrupted.
  private var isTimeUp = false
  private var isOpen = false
  /// Whether the daemon ended, and the session with it.
  private var isDaemonGone = false
  private var current: Tag?
  private var waiting: [Tag] = []
  /// The names of the current and the waiting tags of a run with a count.
  private var names: [Tag: String] = [:]
  /// The tags on the reader, with their names.
  private var present: [Tag: String] = [:]
  /// Tags that were removed a moment ago, with no event since. When a session ends, it first reports all its tags
  /// as removed, even if they still lie there.
  private var takenAway: [Tag: String] = [:]
  /// The names of tags that lay there when the last session ended. The next session ignores them.
  private var resting: Set<String> = []
  /// The result, when it is known.
  private var outcome: Outcome?

  init(isFollowing: Bool, timeout: Int?, count: Int? = nil, mayChange: Bool = false) {
    self.mayChange = mayChange
    self.isFollowing = isFollowing
    self.timeout = timeout
    self.count = count
  }

  /// Returns the actions, in order.
  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .removed, .forgotten, .ended: break
    default: takenAway = [:]
    }
    switch event {
    case .began(let reportsRounds):
      self.reportsRounds = reportsRounds
      (isOpen, isDaemonGone) = (true, false)
      return outcome == nil ? [.show("waiting for the reader")] : [.close(nil)]
    case .notBegun(let failure): return [.hide, .finish(outcome ?? .failed(failure))]
    case .activated: return [.show(invitation)] + (resting.isEmpty ? [] : [.settle])
    case .settled:
      resting = []
      return []
    case .detected(let tag, let name):
      guard outcome == nil else { return [] }
      present[tag] = name
      guard resting.remove(name) == nil else { return [] }
      guard !done.contains(name) else {
        return current == nil ? [.show("this tag is done already: take the next one")] : []
      }
      waiting.append(tag)
      if count != nil { names[tag] = name }
      return waitsForRound ? [] : next()
    case .roundEnded:
      // A command that is closing its session must not change a tag anymore.
      guard outcome == nil else { return [] }
      guard waitsForRound, current == nil, waiting.count > 1 else { return next() }
      return fail(
        Failure(
          message: "\(waiting.count) tags lie on the reader: take all but one away and try again",
          exitCode: Names.ExitCode.tryAgain, sheet: SheetMessages.several))
    case .removed(let tag):
      waiting.removeAll { $0 == tag }
      guard isFollowing, let name = present.removeValue(forKey: tag) else { return [] }
      takenAway[tag] = name
      return [.forget(tag)]
    case .forgotten(let tag):
      takenAway[tag] = nil
      return []
    case .progress(let bytes): return outcome == nil ? [.show("\(bytes) bytes")] : []
    case .ended(let end): return ended(end)
    case .worked(let failure): return worked(failure)
    case .closed:
      isOpen = false
      return [.finish(outcome ?? .done)]
    case .interrupted(let signal): return interrupted(signal)
    case .timeIsUp: return timeIsUp()
    }
  }

  private var invitation: String {
    (count.map { "\(done.count) of \($0) done: " } ?? "") + "hold a tag near the reader"
  }

  private var waitsForRound: Bool { mayChange && !isFollowing && reportsRounds }

  private mutating func next() -> [Action] {
    guard current == nil, !waiting.isEmpty else { return [] }
    let tag = waiting.removeFirst()
    current = tag
    return [.hide, .work(tag)]
  }

  private mutating func worked(_ failure: Failure?) -> [Action] {
    if count != nil, failure == nil, let current, let name = names[current] { done.insert(name) }
    current = nil
    names = names.filter { waiting.contains($0.key) }
    let answer: [Action] = [.hide, .print]
    guard isFollowing else {
      waiting = []
      // A finished operation is a success, even if the session ended meanwhile.
      if case .signalled? = outcome { return answer + (isOpen ? [] : finish()) }
      outcome = failure.map { isOpen ? .failed($0) : outcome ?? .failed($0) } ?? .done
      return answer + (isOpen ? [.close(failure.map { $0.sheet ?? SheetMessages.elsewhere })] : finish())
    }
    let report = answer + (failure.map { [.report($0)] } ?? [])
    guard outcome == nil else { return report + (isOpen ? [] : finish()) }
    if let count, done.count >= count {
      outcome = .done
      return report + (isOpen ? [.close(nil)] : finish())
    }
    if isTimeUp { return report + timeIsUp() }
    guard isOpen else { return report + nextSession() }
    let more = next()
    return report + (more.isEmpty ? [.show(invitation)] : more)
  }

  private mutating func ended(_ end: ReaderSessionEnd) -> [Action] {
    isOpen = false
    let isRoundUnfinished = waitsForRound && !waiting.isEmpty
    waiting = []
    guard outcome == nil else { return current == nil ? finish() : [] }
    isDaemonGone = [.daemonStopping, .daemonGone].contains(end.reason)
    // While waiting for a tag, continue after a restart of the daemon. During an operation, fail.
    if isFollowing ? isDaemonGone || end.reason == .timedOut : isDaemonGone && current == nil {
      resting = isFollowing ? Set(takenAway.values).union(present.values) : []
      present = [:]
      return current == nil ? nextSession() : []
    }
    let isCutOff = end.reason == .timedOut && current == nil && isRoundUnfinished
    outcome = .failed(isCutOff ? Self.unfinishedRound : Failure(end, whileWorking: current != nil))
    // An operation in progress will end with an error.
    return current == nil ? finish() : []
  }

  private func nextSession() -> [Action] {
    isDaemonGone ? [.show("waiting for the daemon"), .startAgain] : [.start]
  }

  private mutating func interrupted(_ signal: Int32) -> [Action] {
    let isSecond = if case .signalled? = outcome { true } else { false }
    outcome = .signalled(signal)
    waiting = []
    return isOpen && !isSecond ? [.hide, .close(nil)] : finish()
  }

  private mutating func timeIsUp() -> [Action] {
    guard outcome == nil, current == nil || isFollowing else { return [] }
    if isFollowing, count == nil {
      outcome = .done
      return isOpen ? [.hide, .close(nil)] : finish()
    }
    guard current == nil else {
      isTimeUp = true
      return []
    }
    guard !waitsForRound || waiting.isEmpty else { return fail(Self.unfinishedRound) }
    let what = count.map { "only \(done.count) of \($0) tags were done" } ?? "no tag came"
    return fail(
      Failure(
        message: "\(what) within \(timeout ?? 0) s: try again", exitCode: Names.ExitCode.tryAgain,
        sheet: SheetMessages.noTag))
  }

  /// The time was over while a tag waited for the end of its round.
  private static var unfinishedRound: Failure {
    Failure(
      message: "a tag came, but the reader was still looking for others when the time was up. Nothing was changed: "
        + "try again", exitCode: Names.ExitCode.tryAgain, sheet: SheetMessages.elsewhere)
  }

  private mutating func fail(_ failure: Failure) -> [Action] {
    outcome = .failed(failure)
    waiting = []
    return isOpen ? [.hide, .close(failure.sheet)] : finish()
  }

  private func finish() -> [Action] { [.hide, .finish(outcome ?? .done)] }
}
