import EventLoop
import Journal
import Names
import ReaderKit
import ReaderModels
import ReaderProtocol
import Tags

/// Runs one reader that pcscd drives: reads each tag once, and notices when a tag is removed. In a reader session it
/// performs the client's operations instead of reading the tags.
///
/// This is the main thread. It makes all decisions, and never waits for pcscd alone: `SlotWatcher` reports changes,
/// `CardThread` makes the calls, and both wake this thread. So it sends heartbeats and obeys the daemon at any time.
///
/// The field of such a reader cannot be switched off. A goal that uses no field means that this process is connected to
/// no card and sends it no command. It keeps its connections to pcscd, also while the reader is lent: they claim
/// neither the reader nor the card, and after its confinement the process could not connect again.
final class CardReader {
  enum Presence: Equatable {
    /// pcscd has not reported it yet. Can transition to: `.absent`, `.unavailable`, `.present`.
    case unknown
    /// Can transition to: `.unavailable`, `.present`.
    case absent
    /// pcscd has it, and its driver cannot reach it. Can transition to: `.absent`, `.present`.
    case unavailable
    /// Can be used, under this name. Can transition to: `.absent`, `.unavailable`.
    case present(ReaderName)
  }

  /// From the arguments, with or without pcscd's numbers.
  let wanted: String
  let daemon: DaemonConnection
  let wake: Signal
  var socket: ServiceSocket
  /// Since the last attempt to connect.
  var socketHasChanged = false
  var service = Service.closed(nil)
  /// To pcscd.
  var connectedAt = SuspendingClock.now
  /// Another process has to take over.
  var isOver = false

  var slot = CardSlot()
  var presence = Presence.unknown
  /// pcscd's name of the reader, if it has the reader.
  var name: ReaderName?
  /// Nil until the first connection.
  var traits: ReaderTraits?
  /// Handled when the work on the present card has ended.
  var backlog: [SlotEvent] = []
  /// The slot's serial number of the card.
  var cardInUse: UInt64?
  /// With a transaction.
  var isConnected = false
  /// The latest state, also if the daemon does not want to know it.
  private var state: ReaderDeviceState?
  /// The last reason that was reported; empty if this process does not wait.
  private var waitingReason = ""

  var epoch: UInt64 = 0
  var goal = ReaderGoal.off
  var isReached = false
  var session: CardSession?
  var givesFeedback = false

  init(
    wanted: String, link: consuming DaemonChannel, wake: Signal, socket: ServiceSocket
  ) {
    self.wanted = wanted
    self.wake = wake
    self.socket = socket
    daemon = DaemonConnection(link, ReaderTiming(device: Names.PCSC.devicePrefix + wanted))
  }

  /// Until the daemon sends `shutDown`, or another process has to take over.
  func run() throws(Interruption) {
    defer { finish() }
    // First read the commands that the daemon has already sent: the goal and the known tags.
    try daemon.sleep(.zero)
    while !daemon.isShuttingDown && !isOver { try serve() }
  }

  private func serve() throws(Interruption) {
    try takeGoal()
    wake.drain()
    if socket.drain() { socketHasChanged = true }
    let isToLook = daemon.takeLookForDevice()
    let isToIdentify = daemon.takeIdentify()
    if case .open(let watcher, _) = service {
      try daemon.beat()
      try takeEvents(watcher)
    } else {
      daemon.dropRequests()
      if !goal.usesField { try reach() }
    }
    switch service {
    case .open: try pursue(isToIdentify: isToIdentify)
    case .opening(let opening): try settle(opening)
    // A connection would start pcscd, which would take the reader from the program that has it.
    case .closed where goal == .lent, .lost where goal == .lent: try sleep()
    case .closed(let retry): try connect(isToLook ? nil : retry)
    case .lost(let due): try replace(isToLook ? .now : due)
    }
  }

  private func pursue(isToIdentify: Bool) throws(Interruption) {
    if goal == .lent {
      try awaitRelease()
      daemon.forgetState()
      try reach()
      return try sleep()
    }
    guard case .present = presence else {
      daemon.dropRequests()
      if goal == .off { try reach() }
      return try sleep()
    }
    if isToIdentify, goal.session == nil {
      try reach()
      identify()
    }
    switch goal {
    case .off, .lent:
      try reach()
      try sleep()
    case .scan: try scan()
    case .session(let options): try serve(options)
    }
  }

  /// The daemon sends its known tags with each goal, and may send them again with the same goal.
  private func takeGoal() throws(Interruption) {
    let isNew = daemon.epoch != epoch || daemon.goal != goal
    if isNew {
      dropSession()
      if goal.isScan && !daemon.goal.isScan { try report(slot.stop()) }
      let wasLent = goal == .lent
      (epoch, goal, isReached) = (daemon.epoch, daemon.goal, false)
      daemon.trace?.isInSession = goal.session != nil
      if wasLent, let state { try setState(state) }
      // The wait was part of the work for the previous goal. Scanning reports its own reason at each step.
      if !goal.isScan { try wait(for: "") }
    }
    if var known = daemon.takeKnown() {
      // Only scanning announces tags.
      if !goal.isScan { known.includesFirst = false }
      try report(slot.know(known))
    }
    if isNew, case .scan(let polling) = goal {
      givesFeedback = polling.feedback
      slot.scan(for: Set(polling.technologies))
    }
  }

  private func scan() throws(Interruption) {
    try reach()
    switch slot.next(at: .now) {
    case .examine: try examine()
    case .restorePolling: try restorePolling()
    case .wait(let end):
      if end == nil {
        try wait(for: slot.isHeld ? Self.exclusiveUse : slot.isStuck(at: .now) ? ReaderRemedy.stuck : "")
      }
      try sleep(until: end)
    }
  }

  // MARK: The daemon

  /// The reason for waiting while another program has the card exclusively.
  static let exclusiveUse = "another program uses the card exclusively; end it, or take the card away"

  func report(_ message: ReaderMessage) throws(Interruption) { try daemon.report(message) }

  func report(_ outcomes: [CardSlot.Outcome]) throws(Interruption) {
    for outcome in outcomes {
      switch outcome {
      case .removed(let number): try report(.removed(placement: number))
      case .known(let number, let tag): try report(.known(Placement(number, tag)))
      }
    }
  }

  func reach() throws(Interruption) {
    guard !isReached else { return }
    isReached = true
    try report(.reached(epoch: epoch))
  }

  /// While the reader is lent, the state is not reported.
  func setState(_ state: ReaderDeviceState) throws(Interruption) {
    self.state = state
    // A state ends the wait for another program.
    waitingReason = ""
    if goal != .lent { try report(.state(state)) }
  }

  /// Another program keeps this process from the card; an empty reason ends that.
  func wait(for reason: String) throws(Interruption) {
    guard reason != waitingReason else { return }
    waitingReason = reason
    try report(.waiting(reason: reason))
  }

  /// Until the daemon sends a command, an event comes, or `end`.
  func sleep(until end: SuspendingClock.Instant? = nil) throws(Interruption) {
    guard daemon.epoch == epoch, daemon.goal == goal, !daemon.isShuttingDown else { return }
    guard let end else {
      try daemon.promiseNothing()
      return try daemon.sleep(nil)
    }
    let duration = SuspendingClock.now.duration(to: end)
    if duration > .zero { try daemon.pause(min(duration, ReaderTiming.longestPause)) }
  }
}

extension CardReader {
  /// Switches on the reader's own polling, which libnfc leaves off. pcscd then gets events again.
  private func restorePolling() throws(Interruption) {
    cardInUse = slot.card?.serial
    defer {
      disconnect()
      slot.pollingRestored(at: .now)
    }
    do throws(CallFailure) { try open(within: Self.identificationAllowance) } catch { return }
    let handle = CardHandle(self)
    guard let command = (try? traits(handle))?.model.pollingCommand else { return }
    try report(.log(.notice, "the reader reports a card that is not there; its own polling is switched on again"))
    _ = try? handle.transmit(command)
  }
}

/// Showing with the reader's LED and buzzer how a tap ended, if the configuration wants that, and which reader this is.
extension CardReader {
  /// The control codes for commands to the reader itself: those of libccid and of ACS's own driver.
  private static let escapeCodes = [ReaderProperties.controlCode(1), ReaderProperties.controlCode(3500)]

  /// How long another program may delay the signal.
  private static let identificationAllowance = Duration.seconds(1)

  /// Shows the result of a reading. Sends the commands that the model may know, until the reader accepts one. A reader
  /// that accepts none shows no result.
  ///
  /// A card that cannot be read is no longer connected, or never was. The commands then go to the reader's driver.
  func signal(_ content: TagReport.Content, _ handle: CardHandle) {
    guard givesFeedback else { return }
    let hasCard = isConnected
    if !hasCard { do throws(CallFailure) { try openReader() } catch { return } }
    var feedback = Feedback.failure
    if case .message = content { feedback = .success }
    show(feedback, handle, hasCard: hasCard)
  }

  /// As after a successful tap. No card may be connected.
  func identify() {
    cardInUse = slot.card?.serial
    defer { disconnect() }
    do throws(CallFailure) { try openReader(within: Self.identificationAllowance) } catch { return }
    show(.success, CardHandle(self), hasCard: false)
  }

  private func show(_ feedback: Feedback, _ handle: CardHandle, hasCard: Bool) {
    guard let model = (try? traits(handle))?.model else { return }
    for command in model.commands(for: feedback) where isAccepted(command, handle, hasCard: hasCard) { return }
  }

  private func isAccepted(_ command: Feedback.Command, _ handle: CardHandle, hasCard: Bool) -> Bool {
    switch command {
    case .apdu(let bytes) where hasCard: (try? handle.transmit(bytes))?.dropLast().last == 0x90
    case .apdu(let bytes), .escape(let bytes): Self.escapeCodes.contains { (try? handle.control($0, bytes)) != nil }
    }
  }
}

struct ReaderTraits {
  let model: ReaderModel
  let takesExtendedAPDUs: Bool

  /// By USB vendor and product, else by name.
  init(_ properties: ReaderProperties, _ name: ReaderName) {
    var found: ReaderModel?
    if let vendor = properties.vendor, let product = properties.product {
      found = ReaderModel.find(vendor: vendor, product: product)
    }
    model = found ?? ReaderModel.find(readerName: name.text) ?? ReaderModel.generic
    takesExtendedAPDUs = properties.mostAPDUData.map { $0 > 256 } ?? false
  }
}

extension CardHandle {
  /// Empty if the driver has no properties.
  func properties() throws(CardFailure) -> ReaderProperties {
    do throws(CardFailure) {
      let features = try control(ReaderProperties.featureRequest)
      guard let request = ReaderProperties.request(inFeatures: features) else { return ReaderProperties() }
      return ReaderProperties(try control(request))
    } catch {
      // Any driver may refuse these requests.
      guard case .exchange = error else { throw error }
      return ReaderProperties()
    }
  }
}

/// Why the work on a card cannot go on as planned.
enum Setback: Error {
  /// The goal has changed, or the process ends.
  case interrupted
  /// The card was removed, or an exchange with it failed. pcscd may report a removal soon.
  case failed(String)
  /// Another card answers. pcscd may report the change soon.
  case replaced
  /// Another program has reset the card.
  case reset
  /// Another program has the card exclusively.
  case refused
  /// The card gets no power.
  case mute
  /// The reader or pcscd is gone.
  case readerGone

  init(_ failure: CardReader.CallFailure) {
    switch failure {
    case .aborted: self = .interrupted
    case .late: self = .failed(CardFailure(failure).channelError.reason)
    case .pcscd(.sharingViolation): self = .refused
    case .pcscd(let error): self = error.isMute ? .mute : Setback(CardFailure(error))
    }
  }

  init(_ failure: CardFailure) {
    switch failure {
    case .removed, .exchange: self = .failed(failure.channelError.reason)
    case .reset: self = .reset
    case .readerGone: self = .readerGone
    case .aborted: self = .interrupted
    }
  }

  /// For the user, as the end of a sentence.
  var reason: String {
    switch self {
    case .interrupted: "the work was interrupted"
    case .failed(let reason): reason
    case .replaced: "another tag answers in its place; put only one tag on the reader"
    case .reset: PCSCError.resetCard.description
    case .refused: PCSCError.sharingViolation.description
    case .mute: PCSCError.unresponsiveCard.description
    case .readerGone: "the reader was removed or stopped working"
    }
  }
}

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

  /// If that is due, else sleeps until it is.
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
      try close(PCSCProblem(.other, "pcscd cannot be used: \(error.description)"))
    }
  }

  func settle(_ opening: ServiceOpening) throws(Interruption) {
    switch opening.take() {
    case nil:
      if opening.since + Self.openingAllowance < .now {
        try setState(.failed(reason: "pcscd does not answer; restart it: sudo systemctl restart pcscd.service"))
      }
      try daemon.pause(ReaderTiming.beatInterval)
    case .failure(let error)?: try close(PCSCProblem(error))
    case .success(let contexts)?: try begin(contexts)
    }
  }

  private func close(_ problem: PCSCProblem) throws(Interruption) {
    var retry = Retry()
    switch problem.kind {
    case .noService:
      if socket.watch() { retry.socketCounts = .now + Self.socketPause }
      // A socket without a pcscd may begin to work without any change near it.
      if retry.socketCounts == nil || socket.exists { retry.time = .now + problem.pause }
    case .refused, .closed, .otherVersion, .other: retry.time = .now + problem.pause
    }
    service = .closed(retry)
    try setState(.failed(reason: problem.text))
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

  /// This process is connected to pcscd, but cannot use it.
  private struct Obstacle: Error {
    let reason: String
  }

  private func start(
    _ contexts: ServiceOpening.Contexts, _ confinement: Confinement
  ) throws(Obstacle) -> Service {
    if let refusal = confinement.refusal { throw Obstacle(reason: refusal) }
    guard let work = Signal() else { throw Obstacle(reason: SystemError("make a pipe").description) }
    do throws(SystemError) {
      let trace = daemon.trace
      let thread = try CardThread(contexts.card, work: work, wake: wake, trace: trace)
      return .open(try SlotWatcher(contexts.slot, wanted: wanted, wake: wake, trace: trace), thread)
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

  func takeEvents(_ watcher: SlotWatcher) throws(Interruption) {
    let events = backlog + watcher.takeEvents()
    backlog = []
    for event in events { try handle(event) }
  }

  /// For a call during the work on a card. Changes of the slot are taken; all other events wait until the work has
  /// ended. Returns whether the reader can still be used.
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
      service = .lost(successorAt: .now + PCSCProblem.refusedByPolkit.pause)
      try setState(.failed(reason: PCSCProblem.refusedByPolkit.text))
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

  /// pcscd has closed the connection for cards. If pcscd has not ended, it does not allow the access to the card:
  /// polkit's refusal looks like that. The state is reported after the work on the card has ended, so that the daemon
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
