import Names
import TagrouteClient

/// What a command does while its reader session goes on, and how it ends.
///
/// Pure: events in, actions out. One tag is worked on at a time; the session is ended in good order whatever happens.
struct TagRun<Tag: Hashable & Sendable>: Sendable {
  enum Event: Sendable {
    /// The session was started; it may have to wait.
    case began
    case notBegun(Failure)
    case activated
    /// A tag, and what it is known by in the next session.
    case detected(Tag, name: String)
    /// What lay there when the session became active has been found.
    case settled
    case removed(Tag)
    /// No session has ended in the moments after that tag was taken away: it was.
    case forgotten(Tag)
    case progress(UInt64)
    case ended(ReaderSessionEnd)
    /// What was to be done with a tag is done, or has failed.
    case worked(Failure?)
    /// The daemon has answered that the session is over, or has not answered.
    case closed
    /// A signal has come.
    case interrupted(Int32)
    /// The tag that was waited for has not come.
    case timeIsUp
  }

  enum Action: Equatable, Sendable {
    case start
    /// Starts a session as soon as there is a daemon again, with a reader that is ready.
    case startAgain
    /// Tells the person at a terminal what goes on, in a line that the next one replaces.
    case show(String)
    case hide
    case work(Tag)
    /// Prints what is to be said of the tag.
    case print
    /// Tells of a failure, and goes on.
    case report(Failure)
    /// Says after a while that it is settled.
    case settle
    /// Says after a moment that the tag is forgotten.
    case forget(Tag)
    /// Ends the session; where something went wrong, its sheet says what.
    case close(String?)
    case finish(Outcome)
  }

  enum Outcome: Equatable, Sendable {
    case done
    case failed(Failure)
    case signalled(Int32)
  }

  /// Whether tag after tag is worked on, or the first one only.
  let isFollowing: Bool
  /// For the message where no tag has come in time.
  let timeout: Int?
  private var isOpen = false
  /// The daemon has ended, and the session with it.
  private var isDaemonGone = false
  private var current: Tag?
  private var waiting: [Tag] = []
  /// What is there, by its name.
  private var present: [Tag: String] = [:]
  /// What was taken away a moment ago, and nothing has happened since: a session that ends takes its tags away first, wherever they
  /// lie.
  private var takenAway: [Tag: String] = [:]
  /// What lay there when the last session ended: it is no other tag when the next one finds it.
  private var resting: Set<String> = []
  /// How it ends, once that is decided.
  private var outcome: Outcome?

  init(isFollowing: Bool, timeout: Int?) {
    self.isFollowing = isFollowing
    self.timeout = timeout
  }

  /// - Parameter event: what has happened.
  /// - Returns: what to do, in this order.
  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .removed, .forgotten, .ended: break
    default: takenAway = [:]
    }
    switch event {
    case .began:
      (isOpen, isDaemonGone) = (true, false)
      return outcome == nil ? [.show("waiting for the reader")] : [.close(nil)]
    case .notBegun(let failure): return [.hide, .finish(outcome ?? .failed(failure))]
    case .activated: return [.show(Self.invitation)] + (resting.isEmpty ? [] : [.settle])
    case .settled:
      resting = []
      return []
    case .detected(let tag, let name):
      guard outcome == nil else { return [] }
      present[tag] = name
      guard resting.remove(name) == nil else { return [] }
      waiting.append(tag)
      return next()
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

  static var invitation: String { "hold a tag near the reader" }

  private mutating func next() -> [Action] {
    guard current == nil, !waiting.isEmpty else { return [] }
    let tag = waiting.removeFirst()
    current = tag
    return [.hide, .work(tag)]
  }

  private mutating func worked(_ failure: Failure?) -> [Action] {
    current = nil
    let answer: [Action] = [.hide, .print]
    guard isFollowing else {
      // What is done is done, even where the session ended behind it.
      if case .signalled? = outcome { return answer + (isOpen ? [] : finish()) }
      outcome = failure.map { isOpen ? .failed($0) : outcome ?? .failed($0) } ?? .done
      return answer + (isOpen ? [.close(failure.map { $0.sheet ?? SheetMessages.elsewhere })] : finish())
    }
    let report = answer + (failure.map { [.report($0)] } ?? [])
    guard outcome == nil else { return report + (isOpen ? [] : finish()) }
    guard isOpen else { return report + nextSession() }
    let more = next()
    return report + (more.isEmpty ? [.show(Self.invitation)] : more)
  }

  private mutating func ended(_ end: ReaderSessionEnd) -> [Action] {
    isOpen = false
    waiting = []
    guard outcome == nil else { return current == nil ? finish() : [] }
    isDaemonGone = [.daemonStopping, .daemonGone].contains(end.reason)
    // Whoever waits for a tag need not know that the daemon was started anew. One that was being worked on is another matter.
    if isFollowing ? isDaemonGone || end.reason == .timedOut : isDaemonGone && current == nil {
      resting = isFollowing ? Set(takenAway.values).union(present.values) : []
      present = [:]
      return current == nil ? nextSession() : []
    }
    outcome = .failed(Failure(end, whileWorking: current != nil))
    // What is being done is answered with an error now.
    return current == nil ? finish() : []
  }

  private func nextSession() -> [Action] {
    isDaemonGone ? [.show("waiting for the daemon"), .startAgain] : [.start]
  }

  private mutating func interrupted(_ signal: Int32) -> [Action] {
    let isSecond = if case .signalled? = outcome { true } else { false }
    outcome = .signalled(signal)
    return isOpen && !isSecond ? [.hide, .close(nil)] : finish()
  }

  private mutating func timeIsUp() -> [Action] {
    guard outcome == nil, current == nil || isFollowing else { return [] }
    guard !isFollowing else {
      outcome = .done
      return isOpen ? [.hide, .close(nil)] : finish()
    }
    let failure = Failure(
      message: "no tag came in time, which is \(timeout ?? 0) s: try again", exitCode: Names.ExitCode.tryAgain,
      sheet: SheetMessages.noTag)
    outcome = .failed(failure)
    return isOpen ? [.hide, .close(failure.sheet)] : finish()
  }

  private func finish() -> [Action] { [.hide, .finish(outcome ?? .done)] }
}
