import ReaderLink
import Tags

/// A reader session: its tags are looked for and watched as ever, reported instead of read, and done with what the daemon says.
extension Poller {
  /// How long at most from an exchange with the tag that is engaged, or the last check, to the next check. In that time a client that
  /// goes step by step is through to its next one.
  private static let checkInterval = Duration.milliseconds(150)

  /// One step of the session that is wanted.
  func serve(_ options: ReaderSessionOptions, _ device: Device) throws(Interruption) {
    if session == nil { try begin(options, device) }
    try daemon.beat()
    if daemon.takeRestart() { return try restart(device) }
    if let request = daemon.takeRequest() { return try perform(request, device) }
    if try isInterrupted() { return }
    if tracker.resting.isEmpty { return try poll(device) }
    if let number = session?.engaged, let tag = selected { return try attend(tag, number, device) }
    try watch(device)
  }

  private func begin(_ options: ReaderSessionOptions, _ device: Device) throws(Interruption) {
    try letGo(device)
    session = TagSession(
      options: options, background: Background(tracker: tracker, plan: plan, presence: presence))
    device.declaredSystems = options.systemCodes
    lookAnew(options)
    isAtRest = false
    try reach()
  }

  /// Knows of no tag, and looks for all that the session is told of, in quick succession.
  private func lookAnew(_ options: ReaderSessionOptions) {
    let technologies = Technologies(names: options.technologies)
    tracker = PlacementTracker(technologies.modulations, after: tracker.lastNumber) {
      $0 != .peer && technologies.contains($0)
    }
    let interval = min(self.options.pollInterval, ReaderTiming.pollInterval)
    plan = PollPlan(technologies.modulations, interval: interval, idleInterval: interval)
    presence = PresencePlan(plan.modulations, pollInterval: interval, idleInterval: interval)
    // The field goes off first: every tag begins anew.
    plan.begin(at: .now)
    presence.begin()
  }

  private func restart(_ device: Device) throws(Interruption) {
    guard let session else { return }
    for number in session.reported.keys.sorted() { try missed(number) }
    try letGo(device)
    lookAnew(session.options)
  }

  /// Switches the field off, and knows again what it knew before.
  func end(_ session: TagSession) throws(Interruption) {
    if let device {
      try letGo(device)
      try asking(device) { (device) throws(Device.Failure) in try device.switchFieldOff() }
      isAtRest = true
    }
    dropSession()
  }

  /// Ends the session as far as it is kept here. The daemon has the next scan take what lies there for known.
  func dropSession() {
    guard let session else { return }
    self.session = nil
    device?.declaredSystems = []
    var background = session.background
    background.tracker.continue(after: tracker.lastNumber)
    (tracker, plan, presence) = (background.tracker, background.plan, background.presence)
  }

  // MARK: Tags

  /// What has become of tags that had come before.
  func sayInSession(_ outcome: PlacementTracker.Outcome) throws(Interruption) {
    if case .left(let number) = outcome { try missed(number) }
  }

  /// The tag of a stay is away, which the daemon hears where it had been told of it.
  private func missed(_ number: UInt64) throws(Interruption) {
    guard let session, session.reported[number] != nil else { return }
    self.session?.reported[number] = nil
    if session.engaged == number { self.session?.engaged = nil }
    try report(.sessionTagRemoved(epoch: epoch, placement: number))
  }

  /// The tag of a stay does not answer any more, and is new when it is found again.
  func lost(_ number: UInt64) throws(Interruption) {
    tracker.unread(number)
    selected = nil
    try missed(number)
    presence.begin()
    if tracker.resting.isEmpty { plan.begin(at: .now) }
  }

  /// A tag has come: says so, unless it is a card without any of the applications.
  func meet(_ tag: TagActivation, _ number: UInt64) throws(Interruption) {
    guard let device, let options = session?.options else { return }
    var application: Int?
    if tag.isISODEP, !options.applicationIdentifiers.isEmpty {
      // It counts as there, and nobody is told.
      guard tag.isProper else { return }
      if selected.map({ !$0.isSameTag(as: tag) }) ?? true { try selectAgain(tag, device) }
      guard let selected, selected.isSameTag(as: tag) else { return tracker.unread(number) }
      switch try named(
        tag, number,
        { () throws(Interruption) in
          try findApplication(options.applicationIdentifiers, tag, device)
        })
      {
      case .found(let index): application = index
      case .none: return
      case .lost:
        tracker.unread(number)
        return try letGo(device)
      }
    }
    let found = tag.sessionTag(number, application: application)
    session?.reported[number] = found
    session?.applicationIsDue = false
    try report(.sessionTag(epoch: epoch, found))
  }

  /// Does something with a tag that nobody was told of yet: whatever that does to this process, the tag has a name then.
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

  /// Which application a card has.
  private enum Applications {
    case found(Int)
    case none
    /// It does not answer any more, or the session is over.
    case lost
  }

  /// Selects the first of some applications that a card has.
  private func findApplication(
    _ applications: [[UInt8]], _ tag: TagActivation, _ device: Device
  ) throws(Interruption) -> Applications {
    for (index, application) in applications.enumerated() {
      guard let answer = try exchange(TagSession.select(application), with: tag, device) else { return .lost }
      if answer.suffix(2) == [0x90, 0x00] { return .found(index) }
    }
    return .none
  }

  /// - Returns: what the tag has answered; nil where it has not, or was not asked because the session is over.
  func exchange(
    _ command: [UInt8], with tag: TagActivation, _ device: Device
  ) throws(Interruption) -> [UInt8]? {
    var channel = TargetChannel(device, tag, beforeEach: checkSession)
    do throws(TagChannelError) {
      return try channel.exchange(command)
    } catch {
      if let failure = channel.failure { throw .deviceLost(failure) }
      return nil
    }
  }

  /// Ends what is done with a tag where the session is over.
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

  /// One step with the tag that is engaged: it is left in peace, but for a check whether it is there.
  private func attend(_ tag: TagActivation, _ number: UInt64, _ device: Device) throws(Interruption) {
    let before = daemon.isToRestart || !daemon.requests.isEmpty
    if !before { try pause(Self.checkInterval) }
    if try isInterrupted() { return }
    if try isPresent(tag, device) { return }
    // Once may be a frame that was lost. A card that does not answer twice in its protocol has left it, and what it was in the middle
    // of with it.
    if tag.isISODEP || tag.type == .type3 || tag.type == .type1 {
      if try isPresent(tag, device) { return }
      return try lost(number)
    }
    try selectAgain(tag, device)
    if selected.map({ $0.isSameTag(as: tag) }) != true { try lost(number) }
  }
}
