import Journal
import ReaderLink
import Tags

/// The life of a reader: finds its device, looks for tags while it may, reads each one once, and notices that it is away.
///
/// Here is what becomes of the device; looking for tags, watching those that rest and reading them have files of their own.
final class Poller {
  let options: ReaderOptions
  let daemon: DaemonConnection
  private let context: OpaquePointer
  private var schedule: OpeningSchedule

  var tracker: PlacementTracker
  var plan: PollPlan
  var presence: PresencePlan
  var counters = ReaderCounters()

  private(set) var device: Device?
  private var last = LastDevice()
  private var openedAt = SuspendingClock.now
  private var isScanning = false
  /// The field is off, and the daemon knows.
  private var isAtRest = false
  /// The tag that the chip has selected; the field is on.
  var selected: TagActivation?
  /// Whether a tag may be listening, selected by us or not.
  var mayListen = false
  /// How often the device had switched the field off at the last look.
  var timesOff = 0

  init(options: ReaderOptions, link: consuming DaemonLink, context: OpaquePointer) {
    self.options = options
    daemon = DaemonConnection(link, ReaderTiming(device: options.device))
    self.context = context
    schedule = OpeningSchedule(isFollowed: options.isFollowed)
    let technologies = options.technologies
    tracker = PlacementTracker(technologies.modulations) { technologies.contains($0) }
    plan = PollPlan(
      technologies.modulations, interval: options.pollInterval, idleInterval: options.idlePollInterval)
    presence = PresencePlan(
      plan.modulations, pollInterval: options.pollInterval, idleInterval: options.idlePollInterval)
  }

  /// Serves the daemon until it says that it is enough.
  ///
  /// - Throws: `ReaderLinkError` where the daemon is gone.
  func run() throws(ReaderLinkError) {
    defer { finish() }
    // What the daemon has said before we started comes first: which tags to leave alone, above all.
    try daemon.sleep(.zero)
    while !daemon.isShuttingDown {
      for tag in daemon.takeAvoided() { tracker.avoid(tag) }
      do throws(Interruption) {
        let isToLook = daemon.takeLookForDevice()
        guard let device else {
          if isToLook { schedule.hurry() }
          try find()
          continue
        }
        if daemon.wantsScanning { try scan(device) } else { try rest(device, isToAnswer: isToLook) }
      } catch {
        switch error {
        case .daemonGone(let error): throw error
        case .deviceLost(let failure): try lose(failure)
        }
      }
    }
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
    guard let leftOn = last.leftOn, case .success = DeviceSearch(configured: leftOn).candidate(context) else { return }
    try? daemon.promise(daemon.timing.opening)
    device = try? Device.open(leftOn, context)
    try? daemon.promise(daemon.timing.closing)
    device = nil
  }

  // MARK: The device

  private func find() throws(Interruption) {
    let isInDoubt = last.leftOn != nil
    switch schedule.step(wantsScanning: daemon.wantsScanning, isFieldInDoubt: isInDoubt, at: .now) {
    case .open: try open()
    case .wait(let duration):
      try pause(duration)
    case .sleep:
      try asking { () throws(ReaderLinkError) in
        try daemon.promiseNothing()
        try daemon.sleep(nil)
      }
    }
  }

  private func open() throws(Interruption) {
    daemon.timing = ReaderTiming(device: options.device)
    try asking { () throws(ReaderLinkError) in try daemon.promise(daemon.timing.opening) }
    let state: ReaderState
    switch DeviceSearch(configured: options.device, known: last.known).candidate(context) {
    case .failure(let obstacle):
      state = obstacle.state
      schedule.failed(nil, isAbsent: state.isAbsent, at: .now)
    case .success(let connectionString):
      switch Self.open(connectionString, context) {
      case .failure(let failure):
        schedule.failed(connectionString, at: .now)
        if failure.isFieldInDoubt { last.failed(fieldOf: connectionString) }
        let doubt = last.leftOn == nil ? "" : "; until it answers, its field may be on"
        state = .failed(reason: failure.reason + schedule.advice(on: connectionString) + doubt)
      case .success(let device):
        self.device = device
        let isAnother = last.open(connectionString)
        // Opening it has reset it: whatever was before, its field is off.
        try report(.scanning(false))
        daemon.timing = ReaderTiming(device: connectionString)
        device.beforeCommand = { [daemon] in try? daemon.beat() }
        openedAt = .now
        timesOff = -1
        isAtRest = false
        try report(.state(.ready(name: device.name, device: device.connectionString)))
        if isAnother { try changed() }
        return
      }
    }
    if state.isAbsent {
      last.areAway()
      try report(.scanning(false))
    }
    try report(.state(state))
    // A device that does not answer took no tag along, however long that lasts; one that is away did.
    if state.isAbsent { try handle(tracker.readerLeft()) }
  }

  /// Another device than before is open: what lay on that one does not lie on this one.
  private func changed() throws(Interruption) {
    if let leftOn = last.leftOn {
      try report(.log(.warning, "\(leftOn) failed before; until it is unplugged, its field may be on"))
    }
    try handle(tracker.readerLeft())
  }

  private static func open(_ connectionString: String, _ context: OpaquePointer) -> Result<Device, Device.Failure> {
    Result { () throws(Device.Failure) in try Device.open(connectionString, context) }
  }

  private func lose(_ failure: Device.Failure) throws(ReaderLinkError) {
    counters.chipCommands += device?.commands ?? 0
    // Closing waits for a chip that is silent.
    try daemon.promise(daemon.timing.closing)
    let connectionString = device?.connectionString
    if device?.isFieldOn == true { last.failed(fieldOf: connectionString) }
    device = nil
    selected = nil
    mayListen = false
    try daemon.report(.log(.warning, failure.reason))
    // Nobody says that the field is off before the device is open again, or away.
    isScanning = false
    try daemon.report(.state(.failed(reason: failure.reason)))
    schedule.lost(connectionString, openedAt: openedAt, at: .now)
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
    try asking { () throws(ReaderLinkError) in
      try daemon.promiseNothing()
      try daemon.sleep(nil)
    }
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
    try asking { () throws(ReaderLinkError) in try daemon.isInterrupted() }
  }

  /// Sleeps so long, or less: the daemon takes nobody for alive who wants to be silent for longer.
  func pause(_ duration: Duration) throws(Interruption) {
    try asking { () throws(ReaderLinkError) in try daemon.pause(min(duration, ReaderTiming.longestPause)) }
  }
}

extension ReaderState {
  fileprivate var isAbsent: Bool { if case .absent = self { true } else { false } }
}
