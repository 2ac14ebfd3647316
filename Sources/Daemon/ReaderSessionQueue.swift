import Names

/// Whose turn it is at one reader: manual reader sessions, first in, first out.
///
/// Pure: events in, actions out. One session at a time is at the reader; the process is told of the next one only when it
/// has confirmed that it is done with the one before. A session has 60 seconds from the moment when the reader is its own.
struct ReaderSessionQueue: Sendable, Hashable {
  typealias Instant = SuspendingClock.Instant

  /// Why a session is over.
  enum End: Sendable, Hashable, CaseIterable {
    case invalidated
    case cancelled
    case timedOut
    case firstRead
    case readerLost
    case sessionInactive
    case sleeping
    case daemonStopping
    /// Its client has left the bus: nobody is told.
    case clientGone

    /// As clients are told; nil where there is nobody to tell.
    var told: Names.SessionEnd? {
      switch self {
      case .invalidated: .invalidated
      case .cancelled: .cancelled
      case .timedOut: .timedOut
      case .firstRead: .firstRead
      case .readerLost: .readerLost
      case .sessionInactive: .sessionInactive
      case .sleeping: .sleeping
      case .daemonStopping: .daemonStopping
      case .clientGone: nil
      }
    }

    /// As the log has it.
    var name: String { told?.rawValue ?? "client-gone" }
  }

  enum Event: Sendable, Hashable {
    /// A client wants a session.
    case start(UInt64)
    /// A session is over, whether it waited or had the reader.
    case end(UInt64, End)
    /// The process says that the session has the reader.
    case began(UInt64)
    /// The process says that it is done with the session.
    case ended(UInt64)
    /// The session cannot go on: the device or its process has failed, and the process is done with it. Nobody is next before the
    /// reader is ready again.
    case lost
    /// The device can be used, or cannot.
    case ready(Bool)
    /// Another program has the device: sessions wait.
    case lent(Bool)
    /// `deadline` has come, or nothing has.
    case tick
  }

  enum Action: Sendable, Hashable {
    /// Tell the process to begin.
    case begin(UInt64)
    /// Tell the process to end it.
    case release(UInt64)
    /// The reader is the session's, until then.
    case activated(UInt64, until: Instant)
    /// The session is over.
    case ended(UInt64, End)
  }

  private enum Turn: Sendable, Hashable {
    case nobody
    /// The process was told to begin.
    case starting(UInt64)
    case active(UInt64, until: Instant)
    /// The session is over; the process was told so and has not confirmed it.
    case ending(UInt64)
  }

  /// From the moment when the reader is the session's own.
  static let limit = Duration.seconds(60)
  /// How long a reader may be away before those that wait for it are told that it is lost.
  static let absence = Duration.seconds(10)

  /// How long a session may have the reader that gets it from here on.
  var limit: Duration
  private(set) var waiting: [UInt64] = []
  private var turn = Turn.nobody
  private var isReady = false
  private var isLent = false
  /// When those that wait are told that the reader is lost.
  private var lossDeadline: Instant?

  /// - Parameter limit: how long a session may have the reader.
  init(limit: Duration = Self.limit) { self.limit = limit }

  /// Whether anybody has the reader, waits for it, or is about to let go of it.
  var isOccupied: Bool { turn != .nobody || !waiting.isEmpty }

  /// The session that the process has been told of, whatever has become of it since.
  var current: UInt64? {
    switch turn {
    case .nobody: nil
    case .starting(let id), .active(let id, _), .ending(let id): id
    }
  }

  /// The sessions that are not over, the one that has the reader first.
  var sessions: [UInt64] {
    switch turn {
    case .starting(let id), .active(let id, _): [id] + waiting
    case .nobody, .ending: waiting
    }
  }

  /// When `tick` is due; nil where nothing is.
  var deadline: Instant? {
    guard case .active(_, let until) = turn else { return lossDeadline }
    return min(until, lossDeadline ?? until)
  }

  /// Takes an event in.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - now: when.
  /// - Returns: what to do, in this order.
  mutating func handle(_ event: Event, at now: Instant) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .start(let id): if !sessions.contains(id) && current != id { waiting.append(id) }
    case .end(let id, let reason): actions = end(id, reason)
    case .began(let id):
      guard case .starting(id) = turn else { break }
      turn = .active(id, until: now + limit)
      actions = [.activated(id, until: now + limit)]
    case .ended(let id):
      switch turn {
      case .ending(id): turn = .nobody
      // Nobody has told it to: whatever the reason is, the reader is not the session's any more.
      case .starting(id), .active(id, _):
        turn = .nobody
        actions = [.ended(id, .readerLost)]
      default: break
      }
    case .lost: actions = lose()
    case .ready(let value): isReady = value
    case .lent(let value):
      isLent = value
      // The process ends by itself what it did, and says so; given back, the device is opened again first.
      isReady = false
      if value, let id = sessions.first, current == id { actions = end(id, .readerLost) }
    case .tick:
      if case .active(let id, let until) = turn, now >= until { actions = end(id, .timedOut) }
      if let lossDeadline, now >= lossDeadline {
        actions += waiting.map { .ended($0, .readerLost) }
        waiting = []
      }
    }
    actions += next()
    watchAbsence(at: now)
    return actions
  }

  private mutating func end(_ id: UInt64, _ reason: End) -> [Action] {
    switch turn {
    case .starting(id), .active(id, _):
      turn = .ending(id)
      return [.ended(id, reason), .release(id)]
    default:
      guard let index = waiting.firstIndex(of: id) else { return [] }
      waiting.remove(at: index)
      return [.ended(id, reason)]
    }
  }

  /// Nothing is to be confirmed by a process that is gone.
  private mutating func lose() -> [Action] {
    defer { (turn, isReady) = (.nobody, false) }
    switch turn {
    case .nobody, .ending: return []
    case .starting(let id), .active(let id, _): return [.ended(id, .readerLost)]
    }
  }

  private mutating func next() -> [Action] {
    guard case .nobody = turn, isReady, !isLent, !waiting.isEmpty else { return [] }
    let id = waiting.removeFirst()
    turn = .starting(id)
    return [.begin(id)]
  }

  /// A reader that is lent comes back when it is given back, however long that takes.
  private mutating func watchAbsence(at now: Instant) {
    guard !isReady, !isLent, !waiting.isEmpty else {
      lossDeadline = nil
      return
    }
    lossDeadline = lossDeadline ?? now + Self.absence
  }
}
