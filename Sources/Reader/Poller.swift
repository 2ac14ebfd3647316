import Journal
import ReaderLink
import Tags

/// The life of a reader: finds its device, looks for tags while it may, reads each one once, and notices that it is away; or does the
/// same for a reader session, with what its client wants to be done with a tag instead of reading.
///
/// Here is what is done next; what becomes of the device, looking for tags, watching those that rest, reading them and sessions have files
/// of their own.
final class Poller {
  private(set) var options: ReaderOptions
  let daemon: DaemonConnection
  let context: OpaquePointer
  let confinement: Confinement
  /// Another process is to take over, which may open the device that has come.
  var isOver = false
  var schedule: OpeningSchedule

  /// What is looked for, and what is there: in a session, what concerns that.
  var tracker: PlacementTracker
  var plan: PollPlan
  var presence: PresencePlan
  /// The session that is under way.
  var session: TagSession?
  /// The device is closed for another program.
  var isLent = false

  var device: Device?
  var last = LastDevice()
  var openedAt = SuspendingClock.now
  /// The goal that is pursued, and whether it is in force, as the daemon knows.
  var epoch: UInt64 = 0
  var goal = ReaderGoal.off
  var isReached = false
  /// The field is off.
  var isAtRest = false
  /// The tag that the chip has selected; the field is on.
  var selected: TagActivation? {
    // Each selection has a card begin anew.
    didSet { session?.applicationIsDue = true }
  }
  /// Whether a tag may be listening, selected by us or not.
  var mayListen = false
  /// How often the device had switched the field off at the last look.
  var timesOff = 0

  init(options: ReaderOptions, link: consuming DaemonLink, context: OpaquePointer, confinement: Confinement) {
    self.confinement = confinement
    self.options = options
    daemon = DaemonConnection(link, ReaderTiming(device: options.device))
    self.context = context
    schedule = OpeningSchedule(isFollowed: options.isFollowed)
    let technologies = options.technologies
    tracker = PlacementTracker(technologies.modulations) { technologies.contains($0) }
    plan = PollPlan(options)
    presence = PresencePlan(plan, options)
  }

  /// What was looked for, and what was there, before a session began.
  struct Background {
    var tracker: PlacementTracker
    let plan: PollPlan
    let presence: PresencePlan
  }

  /// Serves the daemon until it says that it is enough.
  ///
  /// - Throws: `Interruption.daemonGone` if the daemon is gone.
  func run() throws(Interruption) {
    defer { finish() }
    try daemon.report(.log(.debug, confinement.summary))
    if let gap = confinement.gap { try daemon.report(.log(.notice, "not wholly confined: \(gap)")) }
    // What the daemon has said before we started comes first: what the goal is, and which tags are known.
    try daemon.sleep(.zero)
    while !daemon.isShuttingDown && !isOver {
      do throws(Interruption) {
        try serve()
      } catch {
        guard case .deviceLost(let failure) = error else { throw error }
        try lose(failure)
      }
    }
  }

  /// One step towards the goal.
  private func serve() throws(Interruption) {
    try takeGoal()
    let isToLook = daemon.takeLookForDevice()
    if goal == .lent { return try lend() }
    if isLent {
      isLent = false
      schedule.hurry()
      return try find()
    }
    guard let device else {
      daemon.dropRequests()
      if isToLook { schedule.hurry() }
      if goal == .off { try reach() }
      return try find()
    }
    switch goal {
    case .session(let options): try serve(options, device)
    case .scan: try scan(device)
    case .off, .lent: try rest(device, isToAnswer: isToLook)
    }
  }

  /// Ends what was done for a former goal. What is known comes with each goal, and may come once more with the same
  /// one.
  private func takeGoal() throws(Interruption) {
    let isNew = daemon.epoch != epoch || daemon.goal != goal
    if isNew {
      if let session { try end(session) }
      // A tag that was not read may be another user's by the time when tags are wanted again.
      if case .scan = goal {
        if case .scan = daemon.goal {} else { for outcome in tracker.stop() { try say(outcome) } }
      }
      (epoch, goal, isReached) = (daemon.epoch, daemon.goal, false)
      if case .scan(let polling) = goal { configure(polling) }
    }
    if let known = daemon.takeKnown() { know(known) }
    // Last, since a device that fails here is opened again, and the goal does not come a second time.
    if isNew, let device { try letGo(device) }
  }

  private func know(_ known: KnownTags) {
    var known = known
    // Another goal finds nothing to announce.
    if case .scan = goal {} else { known.includesFirst = false }
    if session == nil { tracker.know(known) } else { session?.background.tracker.know(known) }
  }

  /// Says that the goal is in force, once.
  func reach() throws(Interruption) {
    guard !isReached else { return }
    isReached = true
    try daemon.report(.reached(epoch: epoch))
  }

  /// Sleeps until the daemon says something.
  func sleep() throws(Interruption) {
    guard daemon.epoch == epoch, !daemon.isShuttingDown else { return }
    try daemon.promiseNothing()
    try daemon.sleep(nil)
  }

  /// Leaves no field on. A chip that is only slow has not done what it was told last, or not yet; whoever opens it makes it begin
  /// anew.
  private func finish() {
    if let device {
      do throws(Device.Failure) {
        try device.switchFieldOff()
      } catch {
        last.failed(fieldOf: device.connectionString)
      }
      try? daemon.promise(daemon.timing.closing)
      self.device = nil
    }
    guard !isLent, let leftOn = last.leftOn, case .success = DeviceSearch(configured: leftOn).candidate(context) else {
      return
    }
    try? daemon.promise(daemon.timing.opening)
    device = try? Device.open(leftOn, context)
    try? daemon.promise(daemon.timing.closing)
    device = nil
  }

  /// Switches the field off and sleeps. `isToAnswer`: the daemon wants to know whether the device is there.
  private func rest(_ device: Device, isToAnswer: Bool) throws(Interruption) {
    if !isAtRest {
      try asking(device) { (device) throws(Device.Failure) in
        if mayListen { try device.deselect() }
        try device.switchFieldOff()
      }
      selected = nil
      mayListen = false
      isAtRest = true
    } else if isToAnswer {
      try daemon.beat()
      try asking(device) { (device) throws(Device.Failure) in try device.switchFieldOff() }
    }
    try reach()
    try sleep()
  }

  /// Looks from now on for what the daemon wants, as often as that wants it. What rests stays what it is.
  private func configure(_ polling: ReaderPolling) {
    options.take(polling)
    let technologies = options.technologies
    tracker.look(for: technologies.modulations) { technologies.contains($0) }
    plan = PollPlan(options)
    presence = PresencePlan(plan, options)
  }

  private func scan(_ device: Device) throws(Interruption) {
    try daemon.beat()
    // A step is a look, or more: what the daemon has said meanwhile comes first.
    if try isInterrupted() { return }
    if !isReached {
      isAtRest = false
      // The field goes off first: whatever was in the middle of something begins again.
      plan.begin(at: .now)
      presence.begin()
      try reach()
    }
    if tracker.resting.isEmpty { try poll(device) } else { try watch(device) }
  }

  // MARK: The daemon

  func report(_ message: ReaderMessage) throws(Interruption) { try daemon.report(message) }

  /// Whether the daemon wants something else, as it has said until now.
  func isInterrupted() throws(Interruption) -> Bool {
    try daemon.isInterrupted(epoch, yieldsToRequests: session != nil)
  }

  /// Sleeps so long, or less: the daemon takes nobody for alive who wants to be silent for longer.
  func pause(_ duration: Duration) throws(Interruption) {
    try daemon.pause(min(duration, ReaderTiming.longestPause))
  }
}

extension PollPlan {
  fileprivate init(_ options: ReaderOptions) {
    self.init(
      options.technologies.modulations, interval: options.pollInterval, idleInterval: options.idlePollInterval)
  }
}

extension PresencePlan {
  fileprivate init(_ plan: PollPlan, _ options: ReaderOptions) {
    self.init(plan.modulations, pollInterval: options.pollInterval, idleInterval: options.idlePollInterval)
  }
}
