import Names
import ReaderKit
import ReaderProtocol
import Tags

/// Reader sessions. Tags are polled and watched as during scanning, but reported to the client instead of read. The
/// client's requests then operate on them.
extension Poller {
  /// The longest time from the last exchange with the engaged tag, or its last check, to the next check. A client that
  /// works step by step sends its next command within this time.
  private static let checkInterval = Duration.milliseconds(150)

  /// Performs one step of the reader session.
  func serve(_ options: ReaderSessionOptions, _ device: NFCDevice) throws(Interruption) {
    if session == nil { try begin(options, device) }
    try daemon.beat()
    if let options = daemon.takeRestart() { return try restart(options, device) }
    if let request = daemon.takeRequest() { return try perform(request, device) }
    if try isInterrupted() { return }
    if tracker.resting.isEmpty { return try poll(device) }
    if let number = session?.engaged, let tag = selected { return try attend(tag, number, device) }
    try watch(device)
  }

  private func begin(_ options: ReaderSessionOptions, _ device: NFCDevice) throws(Interruption) {
    try letGo(device)
    session = TagSession(
      options, background: Background(tracker: tracker, plan: plan, presence: presence))
    lookAnew(options, device)
    isAtRest = false
    try reach()
  }

  /// Forgets all tags and polls for these technologies and systems, at least every `ReaderTiming.pollInterval`.
  private func lookAnew(_ options: ReaderSessionOptions, _ device: NFCDevice) {
    session?.restart(options)
    device.declaredSystems = options.systemCodes
    let technologies = options.technologies
    tracker = PlacementTracker(technologies.modulations, after: tracker.lastNumber) { technologies.contains($0) }
    let interval = min(self.options.pollInterval, ReaderTiming.pollInterval)
    plan = PollPlan(technologies.modulations, interval: interval, idleInterval: interval)
    presence = PresencePlan(plan.modulations, pollInterval: interval, idleInterval: interval)
    // The first step switches the field off, which resets every tag.
    plan.begin(at: .now)
    presence.begin()
  }

  private func restart(_ options: ReaderSessionOptions, _ device: NFCDevice) throws(Interruption) {
    guard let session else { return }
    for number in session.reported.keys.sorted() { try missed(number) }
    try letGo(device)
    lookAnew(options, device)
    try report(.sessionPollingRestarted(epoch: epoch))
  }

  /// Switches the field off and restores the state from before the session.
  func end(_ session: TagSession) throws(Interruption) {
    if let device {
      try letGo(device)
      try asking(device) { (device) throws(NFCDevice.Failure) in try device.switchFieldOff() }
      isAtRest = true
    }
    dropSession()
  }

  /// Ends the session in this process. The daemon has the next scan treat the tags that already lie there as known
  /// (`KnownTags.includesFirst`).
  func dropSession() {
    guard let session else { return }
    self.session = nil
    device?.declaredSystems = []
    var background = session.background
    background.tracker.continue(after: tracker.lastNumber)
    (tracker, plan, presence) = (background.tracker, background.plan, background.presence)
  }

  // MARK: Tags

  /// Reports a tag of the session that was removed.
  func sayInSession(_ outcome: PlacementTracker.Outcome) throws(Interruption) {
    if case .left(let number) = outcome { try missed(number) }
  }

  /// Reports that the tag of a placement is gone, if the tag was reported before.
  private func missed(_ number: UInt64) throws(Interruption) {
    guard let session, session.reported[number] != nil else { return }
    self.session?.reported[number] = nil
    if session.engaged == number { self.session?.engaged = nil }
    try report(.sessionTagRemoved(epoch: epoch, placement: number))
  }

  /// Ends the placement of a tag that no longer answers. The tag is new when it is found again.
  func lost(_ number: UInt64) throws(Interruption) {
    tracker.unread(number)
    selected = nil
    try missed(number)
    presence.begin()
    if tracker.resting.isEmpty { plan.begin(at: .now) }
  }

  /// Reports a new tag, unless it is a card without any of the session's applications that the client does not want.
  func meet(_ tag: TagActivation, _ number: UInt64) throws(Interruption) {
    guard let device, let current = session else { return }
    var application: Int?
    if tag.isISODEP, !current.polled.applicationIdentifiers.isEmpty {
      guard case .found(let index) = try search(tag, number, current, device) else { return }
      application = index
      // The refused SELECTs may have changed the card's state, so the next operation selects the card again.
      if index == nil { session?.isOutOfStep = true }
    }
    let found = tag.sessionTag(number, application: application)
    session?.reported[number] = found
    session?.applicationIsDue = false
    try report(.sessionTag(epoch: epoch, found))
    session?.round.reported()
  }

  /// Reports the end of a round, if all of its tags are reported.
  func settleRound() throws(Interruption) {
    guard session?.round.settle() == true else { return }
    try report(.sessionRoundEnded(epoch: epoch))
  }

  /// Works on a tag that is not reported yet. The daemon gets the tag's identity first, in case the tag makes this
  /// process fail.
  private func named(
    _ tag: TagActivation, _ number: UInt64, _ body: () throws(Interruption) -> Applications
  ) throws(Interruption) -> Applications {
    try report(.examining(Placement(number, tag)))
    let found: Applications
    do throws(Interruption) {
      found = try body()
    } catch {
      if case .deviceLost = error { try report(.removed(placement: number)) }
      throw error
    }
    if case .found = found { return found }
    try report(.removed(placement: number))
    return found
  }

  /// The result of the search for an application.
  private enum Applications {
    /// The card is to be reported: with the application of this index in `TagSession.options`, or with none.
    case found(Int?)
    /// The card has none of the applications, and is not to be reported.
    case none
    /// The card no longer answers, or the session has ended.
    case lost
  }

  /// Selects the first of the session's applications that the card has.
  private func search(
    _ tag: TagActivation, _ number: UInt64, _ current: TagSession, _ device: NFCDevice
  ) throws(Interruption) -> Applications {
    let without = current.polled.reportsUndeclaredCards ? Applications.found(nil) : .none
    // A card with a malformed answer to select gets no commands. It keeps its placement, even if it is not reported.
    guard tag.isProper else { return without }
    if selected.map({ !$0.isSameTag(as: tag) }) ?? true { try selectAgain(tag, device) }
    guard let selected, selected.isSameTag(as: tag) else {
      tracker.unread(number)
      return .lost
    }
    let result = try named(tag, number) { () throws(Interruption) in
      for application in current.polled.applicationIdentifiers {
        guard let answer = try exchange(ApplicationSelection.command(application), with: tag, device) else {
          return .lost
        }
        guard ApplicationSelection.isAccepted(answer) else { continue }
        return .found(current.options.applicationIdentifiers.firstIndex(of: application))
      }
      return without
    }
    if case .lost = result {
      tracker.unread(number)
      try letGo(device)
    }
    return result
  }

  /// Returns nil if the tag gave no answer, or if the session ended before the exchange.
  func exchange(
    _ command: [UInt8], with tag: TagActivation, _ device: NFCDevice
  ) throws(Interruption) -> [UInt8]? {
    var channel = TargetChannel(device, tag, beforeEach: checkSession)
    do throws(TagChannelError) {
      return try channel.exchange(command)
    } catch {
      if let failure = channel.failure { throw .deviceLost(failure) }
      return nil
    }
  }

  /// Aborts work on a tag if the session has ended.
  func checkSession() throws(TagChannelError) {
    let isOver: Bool
    do throws(Interruption) {
      try daemon.beat()
      let isInterrupted = try daemon.isInterrupted(epoch)
      isOver = session == nil || isInterrupted
    } catch {
      throw TagChannelError(.aborted, "the daemon is gone")
    }
    guard !isOver else { throw TagChannelError(.aborted, "the reader session has ended") }
  }

  /// Performs one step with the engaged tag. The tag gets no command except a presence check.
  private func attend(_ tag: TagActivation, _ number: UInt64, _ device: NFCDevice) throws(Interruption) {
    let before = daemon.isToRestart || !daemon.requests.isEmpty
    if !before { try pause(Self.checkInterval) }
    if try isInterrupted() { return }
    if try isPresent(tag, device) { return }
    // One missed check may be a lost frame. A card that misses two has left its protocol state, and the client's work
    // with it is lost.
    if tag.isISODEP || tag.type == .type3 || tag.type == .type1 {
      if try isPresent(tag, device) { return }
      return try lost(number)
    }
    try selectAgain(tag, device)
    if selected.map({ $0.isSameTag(as: tag) }) != true { try lost(number) }
  }
}
