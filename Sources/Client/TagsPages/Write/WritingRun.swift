package import TagrouteClient

/// What the user wants on one tag, or on many.
package struct WritingOrder: Sendable, Hashable {
  /// The encoded message; empty to remove the present one.
  package var message: [UInt8]
  /// Whether to format a blank tag.
  package var formats: Bool
  /// Whether to make each tag read-only.
  package var locks: Bool
  /// Whether to go on with the next tag until the user ends it.
  package var isBatch: Bool
  /// Messages that the user has seen and agreed to replace.
  package var replaceable: Set<[UInt8]>
  /// Whether the message is what the tag held before.
  fileprivate(set) package var isReturn = false

  package init(
    message: [UInt8], formats: Bool = true, locks: Bool = false, isBatch: Bool = false, replaceable: Set<[UInt8]> = []
  ) {
    (self.message, self.formats, self.locks, self.isBatch) = (message, formats, locks, isBatch)
    self.replaceable = replaceable
  }
}

/// The course of writing tags in the window, over one reader session or several. Pure: events in, actions out.
///
/// A tag that holds another message is written only after the user has seen that message. If several tags lie on the
/// reader, none is written, because the user could not know which one was changed.
package struct WritingRun<Tag: Hashable & Sendable>: Sendable {
  /// What a tag held before.
  package enum Contents: Sendable, Hashable {
    case message([UInt8])
    /// Formatted, without a message.
    case empty
    /// Not formatted for messages. Only writing shows whether it can be.
    case blank
    /// Formatted, with contents that are not a message.
    case damaged
  }

  /// Why nothing, or not everything, was done.
  package indirect enum Problem: Sendable, Hashable {
    case tag(TagFailure)
    /// The message is too long. The longest one that fits has this many bytes.
    case room(Int)
    /// The message is written, and the tag is not locked.
    case notLocked(Problem)
    case ended(ReaderSessionEnd.Reason)
    /// No reader is ready.
    case noReader
    /// In the words of the daemon or the bus.
    case other(String)
  }

  package enum Outcome: Sendable, Hashable {
    case written(isLocked: Bool)
    /// The user has kept what was on the tag.
    case kept
    case failed(Problem)
  }

  /// A tag that is done.
  package struct Entry: Sendable, Hashable {
    package let name: String
    package let outcome: Outcome

    package init(name: String, outcome: Outcome) { (self.name, self.outcome) = (name, outcome) }
  }

  package enum State: Sendable, Hashable {
    /// Can transition to: `starting`.
    case idle
    /// The session is being started, or waits for the reader. Can transition to: `holding`, `over`.
    case starting
    /// Waits for a tag. Can transition to: `examining`, `several`, `resting`, `starting`, `over`.
    case holding
    /// More than one tag lies there. Can transition to: `holding`, `starting`, `over`.
    case several
    /// The present message is being read. Can transition to: `asking`, `writing`, `resting`, `holding`, `starting`,
    /// `over`.
    case examining
    /// The user decides about the present contents. Can transition to: `writing`, `resting`, `holding`, `starting`,
    /// `over`.
    case asking(Contents)
    /// Can transition to: `resting`, `holding`, `starting`, `over`.
    case writing
    /// In a batch: the tag is done, and still lies there. Can transition to: `holding`, `starting`, `over`.
    case resting
    /// The problem is that of the session; the entries have those of the tags. Can transition to: `idle`, `starting`.
    case over(Problem?)
  }

  package enum Event: Sendable {
    case ordered(WritingOrder)
    /// The user tries again, or goes on with a batch that was interrupted.
    case resumed
    /// The user has seen the result.
    case dismissed
    case activated
    case notStarted(Problem)
    /// The name is that of the tag's kind and UID.
    case detected(Tag, name: String)
    case roundEnded
    case removed(Tag)
    case examined(Tag, Result<Contents, TagProblem>)
    case answered(replaces: Bool)
    /// The value is whether the tag is locked.
    case written(Tag, Result<Bool, TagProblem>)
    case ended(ReaderSessionEnd.Reason)
    /// The user wants no more tags.
    case stopped
  }

  /// An error of an operation on a tag.
  package struct TagProblem: Error, Sendable, Hashable {
    package let problem: Problem
    package init(_ problem: Problem) { self.problem = problem }
  }

  package enum Action: Sendable, Hashable {
    case start(formats: Bool)
    case examine(Tag)
    /// Writes the message, and then locks the tag if `locks` is set.
    case write(Tag, [UInt8], locks: Bool)
    /// Ends the session, also one that is being started.
    case close
    /// The state or the entries have changed.
    case show
  }

  package private(set) var state = State.idle
  package private(set) var order = WritingOrder(message: [])
  package private(set) var entries: [Entry] = []
  /// The tag that is being examined or written, for the user.
  package private(set) var currentName = ""
  /// Whether the run ends after the tag that is being written.
  package private(set) var isStopping = false
  /// The tags on the reader, with their names.
  private var present: [Tag: String] = [:]
  private var current: Tag?
  private var former = Contents.empty
  /// Whether the reader may report more tags that lie beside the reported ones.
  private var isRoundOpen = false
  private var isOpen = false
  /// Why the session has ended while a tag was examined or written.
  private var end: ReaderSessionEnd.Reason?
  /// The tag that lay there when the last session of a batch ended. The next session finds it again.
  private var restingName: String?

  package init() {}

  package var isRunning: Bool {
    switch state {
    case .idle, .over: false
    default: true
    }
  }

  /// How many tags have the message.
  package var written: Int { entries.count(where: \.isWritten) }

  /// The order that writes back what the only tag held before; nil if there was no message, or if it is still there.
  package var orderToWriteBack: WritingOrder? {
    guard case .over = state, !order.isBatch, !order.isReturn, case .message(let message) = former, !message.isEmpty,
      message != order.message
    else { return nil }
    switch entries.last?.outcome {
    // A tag that was removed too soon holds no message now.
    case .written(isLocked: false), .failed(.tag(.tagLost)), .failed(.tag(.notAsWritten)), .failed(.notLocked): break
    default: return nil
    }
    var back = WritingOrder(message: message, formats: false, replaceable: [order.message])
    back.isReturn = true
    return back
  }

  /// Returns the actions, in order.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .ordered(let order):
      guard !isRunning else { return [] }
      (self.order, entries) = (order, [])
      return restart()
    case .resumed:
      guard case .over = state else { return [] }
      if !order.isBatch { entries = [] }
      return restart()
    case .dismissed:
      guard case .over = state else { return [] }
      entries = []
      return change(to: .idle)
    case .activated:
      // The user has stopped before the reader was free.
      guard isRunning else { return [.close] }
      isOpen = true
      return state == .starting ? change(to: .holding) : []
    case .notStarted(let problem): return state == .starting ? change(to: .over(problem)) : []
    case .detected(let tag, let name):
      present[tag] = name
      isRoundOpen = true
      return []
    case .roundEnded:
      isRoundOpen = false
      return look()
    case .removed(let tag): return removed(tag)
    case .examined(let tag, let result): return examined(tag, result)
    case .answered(let replaces):
      guard case .asking(let contents) = state, let current else { return [] }
      guard replaces else { return done(.kept) }
      if case .message(let message) = contents { order.replaceable.insert(message) }
      return write(current)
    case .written(let tag, let result):
      guard tag == current, state == .writing else { return [] }
      switch result {
      case .success(let isLocked): return done(.written(isLocked: isLocked))
      case .failure(let error): return done(.failed(error.problem))
      }
    case .ended(let reason): return ended(reason)
    case .stopped: return stopped()
    }
  }

  private mutating func restart() -> [Action] {
    restingName = state == .resting ? currentName : nil
    (present, current, isOpen, end, isStopping) = ([:], nil, false, nil, false)
    (former, isRoundOpen) = (.empty, false)
    return change(to: .starting) + [.start(formats: order.formats)]
  }

  /// Takes the tag on the reader, once it is known whether it lies there alone.
  private mutating func look() -> [Action] {
    guard state == .holding || state == .several, !isRoundOpen else { return [] }
    guard present.count <= 1 else { return state == .several ? [] : change(to: .several) }
    guard let (tag, name) = present.first else { return [] }
    (current, currentName, former) = (tag, name, .empty)
    defer { restingName = nil }
    guard name != restingName, !isDone(name) else { return change(to: .resting) }
    return change(to: .examining) + [.examine(tag)]
  }

  /// A batch writes each tag once, also one that comes back.
  private func isDone(_ name: String) -> Bool {
    order.isBatch && entries.contains { $0.name == name && $0.isWritten }
  }

  private mutating func removed(_ tag: Tag) -> [Action] {
    present[tag] = nil
    switch state {
    // The operation fails by itself.
    case .examining, .writing: return []
    case .asking where tag == current, .resting where tag == current: return hold()
    case .several where present.count <= 1: return hold()
    default: return []
    }
  }

  /// Waits for a tag, or takes one that has come meanwhile.
  private mutating func hold() -> [Action] {
    current = nil
    return change(to: .holding) + look()
  }

  private mutating func examined(_ tag: Tag, _ result: Result<Contents, TagProblem>) -> [Action] {
    guard tag == current, state == .examining else { return [] }
    if let end { return over(end) }
    switch result {
    case .failure(let error) where error.problem == .tag(.tagLost):
      // Nothing was changed, so the tag may come again. Its removal may not be reported yet.
      current = nil
      return change(to: .holding)
    case .failure(let error): return done(.failed(error.problem))
    case .success(let contents):
      former = contents
      switch contents {
      case .message(let message) where message.isEmpty || message == order.message: return write(tag)
      case .message(let message) where order.replaceable.contains(message): return write(tag)
      case .message, .damaged: return change(to: .asking(contents))
      case .empty, .blank: return write(tag)
      }
    }
  }

  private mutating func write(_ tag: Tag) -> [Action] {
    change(to: .writing) + [.write(tag, order.message, locks: order.locks)]
  }

  private mutating func done(_ outcome: Outcome) -> [Action] {
    entries.append(Entry(name: currentName, outcome: outcome))
    guard order.isBatch, !isStopping else { return finish() }
    if let end { return over(end) }
    guard let current, present[current] != nil else { return hold() }
    return change(to: .resting)
  }

  private mutating func ended(_ reason: ReaderSessionEnd.Reason) -> [Action] {
    guard isRunning, isOpen || state == .starting else { return [] }
    isOpen = false
    guard state != .writing, state != .examining else {
      // The operation fails by itself.
      end = reason
      return []
    }
    return over(reason)
  }

  /// The session is over. A batch has one after the other.
  private mutating func over(_ reason: ReaderSessionEnd.Reason) -> [Action] {
    order.isBatch && reason == .timedOut ? restart() : change(to: .over(.ended(reason)))
  }

  private mutating func stopped() -> [Action] {
    guard isRunning else { return [] }
    guard state == .writing else { return finish() }
    // An interrupted tag would be empty.
    isStopping = true
    return [.show]
  }

  private mutating func finish() -> [Action] {
    let closing: [Action] = isOpen || state == .starting ? [.close] : []
    (isOpen, isStopping) = (false, false)
    return change(to: .over(nil)) + closing
  }

  private mutating func change(to next: State) -> [Action] {
    state = next
    return [.show]
  }
}

extension WritingRun.Entry {
  /// Whether the message is on the tag.
  package var isWritten: Bool {
    switch outcome {
    case .written, .failed(.notLocked): true
    case .kept, .failed: false
    }
  }
}
