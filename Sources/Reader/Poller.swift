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
  var counters = ReaderCounters()
  /// The session that is under way.
  var session: TagSession?
  /// The device is closed for another program, and the daemon knows.
  var isLent = false

  var device: Device?
  var last = LastDevice()
  var openedAt = SuspendingClock.now
  var isScanning = false
  /// The field is off, and the daemon knows.
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
  /// - Throws: `ReaderLinkError` where the daemon is gone.
  func run() throws(ReaderLinkError) {
    defer { finish() }
    try daemon.report(.log(.debug, confinement.summary))
    if let gap = confinement.gap { try daemon.report(.log(.notice, "not wholly confined: \(gap)")) }
    // What the daemon has said before we started comes first: which tags to leave alone, above all.
    try daemon.sleep(.zero)
    while !daemon.isShuttingDown && !isOver {
      do throws(Interruption) {
        try serve()
      } catch {
        switch error {
        case .daemonGone(let error): throw error
        case .deviceLost(let failure): try lose(failure)
        }
      }
    }
  }

  /// One step, of whatever is wanted now.
  private func serve() throws(Interruption) {
    for tag in daemon.takeAvoided() { avoid(tag) }
    if let session, try isOver(session) { try end(session) }
    if session == nil, let polling = daemon.takePolling() { try configure(polling) }
    for number in daemon.orders.takeEndings() { try report(.sessionEnded(number)) }
    // Between two steps nothing is being read. Where the field is ours to switch off, that comes first.
    if device == nil || isAtRest || daemon.orders.session != nil || daemon.orders.wantsLoan { try answerStops() }
    if daemon.orders.wantsLoan { return try lend() }
    if daemon.orders.isLoanUnanswered { try takeBack() }
    let isToLook = daemon.takeLookForDevice()
    guard let device else {
      // The daemon knows that there is none.
      daemon.orders.drop()
      if isToLook { schedule.hurry() }
      return try find()
    }
    if let options = daemon.orders.session { return try serve(options, device) }
    if daemon.wantsScanning && daemon.stops == 0 { try scan(device) } else { try rest(device, isToAnswer: isToLook) }
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
      isScanning = false
      isAtRest = true
      try report(.scanning(false))
      try reportCounters()
    } else if isToAnswer {
      try asking { () throws(ReaderLinkError) in try daemon.beat() }
      try asking(device) { (device) throws(Device.Failure) in try device.switchFieldOff() }
    }
    try answerStops()
    if daemon.wantsScanning { return }
    try asking { () throws(ReaderLinkError) in
      try daemon.promiseNothing()
      try daemon.sleep(nil)
    }
  }

  /// Says that nothing is being read that was laid down before the daemon wanted no more tags. Such a tag is nobody's, also where it lies
  /// there when tags are wanted again: it may be another user's who is at the machine then.
  private func answerStops() throws(Interruption) {
    guard daemon.stops > 0 else { return }
    // After a session it counts for nobody anyway.
    if session == nil { tracker.stop() }
    try asking { () throws(ReaderLinkError) in try daemon.answerStops() }
  }

  /// Looks from here on for what the daemon wants now, as often as that wants it. What rests stays what it is.
  private func configure(_ polling: ReaderPolling) throws(Interruption) {
    options.take(polling)
    let technologies = options.technologies
    let outcomes = tracker.look(for: technologies.modulations) { technologies.contains($0) }
    plan = PollPlan(options)
    presence = PresencePlan(plan, options)
    // The field goes off first: whatever was in the middle of something begins anew.
    plan.begin(at: .now)
    presence.begin()
    for outcome in outcomes { try say(outcome) }
    // Last, since a device that fails here is opened again, and nobody says a second time what is wanted.
    if let device { try letGo(device) }
  }

  private func scan(_ device: Device) throws(Interruption) {
    try asking { () throws(ReaderLinkError) in try daemon.beat() }
    // A step is a look, or more: what the daemon has said meanwhile comes first.
    if try isInterrupted() { return }
    if !isScanning {
      isScanning = true
      isAtRest = false
      plan.begin(at: .now)
      presence.begin()
      try report(.scanning(true))
    }
    if tracker.resting.isEmpty { try poll(device) } else { try watch(device) }
  }

  // MARK: The daemon

  func report(_ message: ReaderMessage) throws(Interruption) {
    try asking { () throws(ReaderLinkError) in try daemon.report(message) }
  }

  func reportCounters() throws(Interruption) {
    var counters = counters
    counters.chipCommands += device?.commands ?? 0
    try report(.counters(counters))
  }

  /// Whether the daemon wants something else, as it has said until now.
  func isInterrupted() throws(Interruption) -> Bool {
    let session = session?.options.number
    return try asking { () throws(ReaderLinkError) in
      if let session { return try daemon.isInterrupted(session: session) }
      return try daemon.isInterrupted()
    }
  }

  /// Sleeps so long, or less: the daemon takes nobody for alive who wants to be silent for longer.
  func pause(_ duration: Duration) throws(Interruption) {
    try asking { () throws(ReaderLinkError) in try daemon.pause(min(duration, ReaderTiming.longestPause)) }
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
