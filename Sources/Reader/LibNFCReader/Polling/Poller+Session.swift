import Names
import PN53x
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
  func serve(_ options: TagSessionOptions, _ device: NFCDevice) throws(Interruption) {
    if session == nil { try begin(options, device) }
    try daemon.beat()
    if let options = daemon.takeRestart() { return try restart(options, device) }
    if let request = daemon.takeRequest() { return try perform(request) }
    if try isInterrupted() { return }
    if tracker.resting.isEmpty { return try poll(device) }
    if let number = session?.engaged, let tag = selected { return try serve(tag, number, device) }
    try watch(device)
  }

  private func begin(_ options: TagSessionOptions, _ device: NFCDevice) throws(Interruption) {
    try letGo(device)
    session = TargetSession(
      options, background: Background(tracker: tracker, plan: plan, presence: presence))
    lookAnew(options, device)
    isAtRest = false
    try reach()
  }

  /// Forgets all tags and polls for these technologies and systems, at least every `ReaderTiming.pollInterval`.
  private func lookAnew(_ options: TagSessionOptions, _ device: NFCDevice) {
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

  private func restart(_ options: TagSessionOptions, _ device: NFCDevice) throws(Interruption) {
    guard let session else { return }
    for number in session.reported.keys.sorted() { try missed(number) }
    try letGo(device)
    lookAnew(options, device)
    try report(.sessionPollingRestarted(epoch: epoch))
  }

  /// Switches the field off and restores the state from before the session.
  func end(_ session: TargetSession) throws(Interruption) {
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
  func sendInSession(_ outcome: PlacementTracker.Outcome) throws(Interruption) {
    if case .left(let number) = outcome { try missed(number) }
  }

  /// Reports that the tag of a placement is gone, if the tag was reported before.
  private func missed(_ number: UInt64) throws(Interruption) {
    guard let session, session.reported[number] != nil else { return }
    self.session?.reported[number] = nil
    if session.engaged == number { self.session?.engaged = nil }
    try report(.sessionTagRemoved(epoch: epoch, placement: number))
  }

  /// Reports a new tag, unless the client does not want it.
  func reportNew(_ tag: TagActivation, _ number: UInt64) throws(Interruption) {
    guard let device, var base = session?.base else { return }
    if base.searches(tag) {
      if selected.map({ !$0.isSameTag(as: tag) }) ?? true { try selectAgain(tag, device) }
      guard let selected, selected.isSameTag(as: tag) else { return tracker.unread(number) }
    }
    var channel = TargetChannel(device, tag, beforeEach: checkSession)
    let found: SessionTag?
    do throws(TagChannelError) {
      found = try base.examine(tag, number, over: &channel, daemon)
    } catch {
      if let failure = channel.failure { throw .deviceLost(failure) }
      tracker.unread(number)
      return try letGo(device)
    }
    guard let found else { return }
    session?.base = base
    session?.reported[number] = found
    try report(.sessionTag(epoch: epoch, found))
    session?.round.reported()
  }

  /// Reports the end of a round, if all of its tags are reported.
  func settleRound() throws(Interruption) {
    guard session?.round.settle() == true else { return }
    try report(.sessionRoundEnded(epoch: epoch))
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
  private func serve(_ tag: TagActivation, _ number: UInt64, _ device: NFCDevice) throws(Interruption) {
    let before = daemon.isToRestart || !daemon.requests.isEmpty
    if !before { try pause(Self.checkInterval) }
    if try isInterrupted() { return }
    if try isPresent(tag, device) { return }
    // One missed check may be a lost frame. A card that misses two has left its protocol state, and the client's work
    // with it is lost.
    if tag.isISODEP || tag.type == .type3 || tag.type == .type1 {
      if try isPresent(tag, device) { return }
      return try loseTag(number)
    }
    try selectAgain(tag, device)
    if selected.map({ $0.isSameTag(as: tag) }) != true { try loseTag(number) }
  }
}

extension Poller: SessionServer {
  func reportedTag(_ placement: UInt64) -> TagActivation? {
    guard session?.reported[placement] != nil else { return nil }
    return tracker.resting.first { $0.number == placement }?.tag
  }

  func operate(_ request: DaemonConnection.Request, on tag: TagActivation) throws(Interruption) -> SessionOutcome {
    let (number, operation) = (request.placement, request.operation)
    guard let device else { return .over }
    guard let tag = try select(tag, number, device) else { return .removed }
    if operation.isTransceive {
      session?.engaged = number
    } else if session?.engaged != number {
      session?.engaged = nil
    }
    let report = session?.reported[number]
    let application = session?.base.application(for: operation, on: report)
    var channel = TargetChannel(device, tag, doubtsRepetitions: operation.isReading, beforeEach: checkSession)
    if case .transceive(let command, let timeout) = operation {
      // Each step of a libnfc driver may wait that long. The longest APDUs take seconds on a slow line.
      let isLong = tag.isISODEP && command.count >= 7 && command[4] == 0
      daemon.allow(.milliseconds(Int64(timeout)) * 4 + (isLong ? .seconds(12) : .seconds(1)))
    }
    defer {
      if operation.isTransceive {
        daemon.allow(.zero)
      } else {
        (selected, mayListen) = (channel.tag, true)
        tracker.reselected(number, channel.tag)
      }
    }
    do throws(TagChannelError) {
      let result = try daemon.perform(request, selecting: application, over: &channel)
      if case .failed = result { session?.base.isOutOfStep = true }
      return .result(result)
    } catch {
      if let failure = channel.failure { throw .deviceLost(failure) }
      return error.code == .aborted ? .over : .silence(error.reason)
    }
  }

  func loseTag(_ placement: UInt64) throws(Interruption) {
    tracker.unread(placement)
    selected = nil
    try missed(placement)
    presence.begin()
    if tracker.resting.isEmpty { plan.begin(at: .now) }
  }

  /// Returns nil if the tag is gone.
  private func select(
    _ tag: TagActivation, _ number: UInt64, _ device: NFCDevice
  ) throws(Interruption) -> TagActivation? {
    if let selected, selected.isSameTag(as: tag), session?.base.isOutOfStep == false { return selected }
    session?.base.isOutOfStep = false
    try selectAgain(tag, device)
    if let selected, selected.isSameTag(as: tag) { return selected }
    return try selectAnew(tag, number) == nil ? selected : nil
  }

  func selectAnew(_ tag: TagActivation, _ placement: UInt64) throws(Interruption) -> SessionOutcome? {
    guard let device else { return .over }
    selected = nil
    mayListen = true
    let again = try asking(device) { (device) throws(NFCDevice.Failure) in try device.selectAnew(tag) }
    session?.base.isOutOfStep = false
    guard let again else { return .removed }
    selected = again
    tracker.reselected(placement, again)
    return nil
  }
}
