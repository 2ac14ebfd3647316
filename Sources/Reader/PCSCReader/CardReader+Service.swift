import EventLoop
import Journal
import Names
import ReaderKit
import ReaderProtocol

/// The connection to pcscd, and the events that come over it.
extension CardReader {
  enum Service {
    /// There is no connection. Connect when that is due; nil for at once. Can transition to: `.opening`.
    case closed(Retry?)
    /// A thread establishes the contexts. Can transition to: `.closed`, `.open`, `.lost`.
    case opening(ServiceOpening)
    /// The process is confined and has both contexts. Can transition to: `.lost`.
    case open(SlotWatcher, CardThread)
    /// pcscd has ended, or has closed a connection. Another process connects again, from this time on.
    case lost(successorAt: SuspendingClock.Instant)
  }

  /// When to try again to connect to pcscd.
  struct Retry {
    /// Nil for never.
    var time: SuspendingClock.Instant?
    /// From when on a change near pcscd's socket is a reason; nil if it is none.
    var socketCounts: SuspendingClock.Instant?
  }

  /// After a failure of this process.
  static let failurePause = Duration.seconds(30)
  /// The shortest time between two attempts because of changes near the socket.
  static let socketPause = Duration.milliseconds(100)
  /// How long pcscd may take to accept a connection until that is a failure. polkit may ask a slow service.
  static let openingAllowance = Duration.seconds(5)
  /// The shortest time from one connection to pcscd to the next one, by this process's successor. Without this, a pcscd
  /// that ends at each connection would be started without end.
  static let successorPause = Duration.seconds(5)
  /// How long after a failed call the other context may fail, too, if pcscd has ended.
  static let endAllowance = Duration.seconds(2)

  // MARK: Connecting

  /// Connects to pcscd if that is due, else sleeps until it is.
  func connect(_ retry: Retry?) throws(Interruption) {
    if let retry, retry.time.map({ $0 <= .now }) != true {
      guard socketHasChanged, let start = retry.socketCounts else { return try sleep(until: retry.time) }
      socketHasChanged = false
      // The folder of the socket may have appeared.
      _ = socket.watch()
      guard socket.exists else { return try sleep(until: retry.time) }
      if start > .now { try daemon.pause(SuspendingClock.now.duration(to: start)) }
    }
    // Before the attempt, so that a pcscd that starts after it is noticed.
    _ = socket.watch()
    _ = socket.drain()
    socketHasChanged = false
    try daemon.promise(daemon.timing.opening)
    do throws(SystemError) {
      service = .opening(try ServiceOpening(wake: wake))
    } catch {
      try close(.other(error.description))
    }
  }

  /// Handles the end of the attempt to connect, or waits for it.
  func settle(_ opening: ServiceOpening) throws(Interruption) {
    switch opening.take() {
    case nil:
      if opening.since + Self.openingAllowance < .now {
        try setState(.failed(reason: "pcscd does not answer; restart it: sudo systemctl restart pcscd.service"))
      }
      try daemon.pause(ReaderTiming.beatInterval)
    case .failure(let error)?: try close(ServiceProblem(error))
    case .success(let contexts)?: try begin(contexts)
    }
  }

  private func close(_ problem: ServiceProblem) throws(Interruption) {
    var retry = Retry()
    switch problem {
    case .noService:
      if socket.watch() { retry.socketCounts = .now + Self.socketPause }
      // A socket without a pcscd may begin to work without any change near it.
      if retry.socketCounts == nil || socket.exists { retry.time = .now + problem.pause }
    case .refused, .closed, .otherVersion, .other: retry.time = .now + problem.pause
    }
    service = .closed(retry)
    try setState(.failed(reason: problem.reason))
  }

  /// Confines the process, then starts its threads.
  private func begin(_ contexts: ServiceOpening.Contexts) throws(Interruption) {
    socket.stopWatching()
    let confinement = Confinement(ConfinementPlan(.cards, .own))
    try report(.log(.debug, confinement.summary))
    if let gap = confinement.gap { try report(.log(.notice, "some restrictions are not in force: \(gap)")) }
    do throws(Obstacle) {
      service = try start(contexts, confinement)
      connectedAt = .now
    } catch {
      service = .lost(successorAt: .now + Self.failurePause)
      try setState(.failed(reason: error.reason))
    }
  }

  /// Why this process cannot use pcscd, although it is connected to it.
  private struct Obstacle: Error {
    let reason: String
  }

  private func start(
    _ contexts: ServiceOpening.Contexts, _ confinement: Confinement
  ) throws(Obstacle) -> Service {
    if let refusal = confinement.refusal { throw Obstacle(reason: refusal) }
    guard let work = Signal() else { throw Obstacle(reason: SystemError("make a pipe").description) }
    do throws(SystemError) {
      let thread = try CardThread(contexts.card, work: work, wake: wake)
      return .open(try SlotWatcher(contexts.slot, wanted: wanted, wake: wake), thread)
    } catch {
      throw Obstacle(reason: error.description)
    }
  }

  /// Makes way for another process, which can connect to pcscd, once that is due.
  func replace(_ due: SuspendingClock.Instant) throws(Interruption) {
    guard due <= .now else { return try sleep(until: due) }
    try report(.successorWanted)
    isOver = true
  }

  // MARK: Events

  /// Handles the events of the slot.
  func takeEvents(_ watcher: SlotWatcher) throws(Interruption) {
    let events = backlog + watcher.takeEvents()
    backlog = []
    for event in events { try handle(event) }
  }

  /// Takes the events during a call for a card. All but changes of the slot wait until the work on the card has ended.
  /// Returns whether the reader can still be used.
  func takeEventsInCall() throws(Interruption) -> Bool {
    guard case .open(let watcher, _) = service else { return false }
    for event in watcher.takeEvents() {
      if case .state = event, backlog.isEmpty { try handle(event) } else { backlog.append(event) }
    }
    return backlog.isEmpty
  }

  private func handle(_ event: SlotEvent) throws(Interruption) {
    switch event {
    case .reader(let name):
      self.name = name
      traits = nil
    case .state(let state):
      try report(slot.handle(state, at: .now))
      guard let name, presence != .present(name) else { return }
      presence = .present(name)
      if goal.usesField { isReached = false }
      let device = Names.PCSC.devicePrefix + name.text
      try setState(.ready(name: Names.PCSC.withoutNumbers(name.text), device: device))
    case .unavailable:
      try leave(.unavailable)
      try setState(.failed(reason: "pcscd has the reader, but cannot reach it; unplug it and plug it in again"))
    case .absent:
      name = nil
      try leave(.absent)
      try setState(.absent(reason: "pcscd has no reader \(wanted); plug it in"))
    case .lost(let error):
      dropSession()
      service = .lost(successorAt: max(.now, connectedAt + Self.successorPause))
      // The other errors of an ended connection name causes that only the next attempt to connect can tell.
      let reason = error.endsContext ? PCSCError.communication : error
      try setState(.failed(reason: "\(reason): it has ended or was restarted"))
    case .forbidden:
      dropSession()
      service = .lost(successorAt: .now + ServiceProblem.refused.pause)
      try setState(.failed(reason: ServiceProblem.refused.reason))
    }
  }

  /// The reader is gone, and its tags with it.
  private func leave(_ presence: Presence) throws(Interruption) {
    self.presence = presence
    daemon.dropRequests()
    dropSession()
    if goal.usesField { isReached = false }
    try report(slot.readerLeft())
  }

  /// pcscd has closed the connection for cards. If it has not ended, it does not allow the access to the card: polkit's
  /// refusal looks like that. The state is reported after the work on the card has ended, so that the daemon
  /// sees which tag was on the reader.
  func loseCards(_ error: PCSCError, _ call: CardCall) throws(Interruption) {
    let end = SuspendingClock.now + Self.endAllowance
    while SuspendingClock.now < end {
      // A pcscd that ends may report first that the reader is gone.
      _ = try takeEventsInCall()
      if case .lost? = backlog.last { return }
      try daemon.beat()
      try daemon.sleep(.milliseconds(50))
      wake.drain()
    }
    // polkit is asked only when a program connects to a card.
    backlog.append(call.waitsForOthers ? .forbidden : .lost(error))
  }
}
