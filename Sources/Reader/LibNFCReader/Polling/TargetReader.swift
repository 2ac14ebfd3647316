import Journal
import PN53x
import ReaderKit
import ReaderProtocol
import Tags

/// Runs one reader: finds its device, polls for tags, reads each tag once, and notices when a tag is removed. In a
/// reader session it performs the client's operations instead of reading the tags.
///
/// This file decides the next step, handles the device, and polls. Other files read tags and serve reader sessions.
final class TargetReader {
  private(set) var options: ReaderOptions
  let daemon: DaemonConnection
  let context: OpaquePointer
  let confinement: Confinement
  /// Another process has to take over, because only a new process may open the device that was plugged in.
  var isOver = false
  var schedule: OpeningSchedule

  /// The resting tags and the polling state. During a reader session they are those of the session.
  var field: TargetField
  var plan: PollPlan
  var presence: PresencePlan
  var session: TargetSession?
  /// Whether the device is closed so that another program can use it.
  var isLent = false

  var device: NFCDevice?
  var last = LastDevice()
  var openedAt = SuspendingClock.now
  var epoch: UInt64 = 0
  var goal = ReaderGoal.off
  var isReached = false
  /// The field is off because the goal does not use it.
  var isAtRest = false
  /// The tag that the chip has selected. The field is on.
  var selected: TagActivation? {
    // Selecting a card resets it, so the client's application has to be selected again.
    didSet { session?.base.applicationIsDue = true }
  }
  /// A tag may listen even if the chip has not selected it.
  var mayListen = false
  /// `NFCDevice.timesOff` at the last look.
  var timesOff = 0

  init(options: ReaderOptions, link: consuming DaemonChannel, context: OpaquePointer, confinement: Confinement) {
    self.confinement = confinement
    self.options = options
    daemon = DaemonConnection(link, ReaderTiming(device: options.device))
    self.context = context
    schedule = OpeningSchedule(isFollowed: options.isFollowed)
    let technologies = options.technologies
    field = TargetField(technologies.modulations) { technologies.include($0) }
    plan = PollPlan(options)
    presence = PresencePlan(plan, options)
  }

  /// The resting tags and the polling state from before a reader session.
  struct Background {
    var field: TargetField
    let plan: PollPlan
    let presence: PresencePlan
  }

  /// Until the daemon sends `shutDown`, or another process has to take over.
  func run() throws(Interruption) {
    defer { finish() }
    try daemon.report(.log(.debug, confinement.summary))
    if let gap = confinement.gap { try daemon.report(.log(.notice, "some restrictions are not in force: \(gap)")) }
    // First read the commands that the daemon has already sent: the goal and the known tags.
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

  private func serve() throws(Interruption) {
    try takeGoal()
    let isToLook = daemon.takeLookForDevice()
    if goal == .lent { return try lend() }
    if isLent {
      isLent = false
      schedule.retryAtOnce()
      return try find()
    }
    guard let device else {
      daemon.dropRequests()
      if isToLook { schedule.retryAtOnce() }
      if goal == .off { try reach() }
      return try find()
    }
    switch goal {
    case .session(let options): try serve(options, device)
    case .scan: try scan(device)
    case .off, .lent: try rest(device, isToAnswer: isToLook)
    }
  }

  /// The daemon sends its known tags with each goal, and may send them again with the same goal.
  private func takeGoal() throws(Interruption) {
    let isNew = daemon.epoch != epoch || daemon.goal != goal
    if isNew {
      if let session { try end(session) }
      // When scanning starts again, it may be for another user. An unread tag becomes known here, so that it is not
      // announced to that user.
      if goal.isScan && !daemon.goal.isScan { for outcome in field.stop() { try send(outcome) } }
      (epoch, goal, isReached) = (daemon.epoch, daemon.goal, false)
      daemon.trace?.isInSession = goal.session != nil
      if case .scan(let polling) = goal { configure(polling) }
    }
    if let known = daemon.takeKnown() { know(known) }
    // Last: if the device fails here, it is reopened, but the daemon does not send the goal again.
    if isNew, let device { try letGo(device) }
  }

  private func know(_ known: KnownTags) {
    var known = known
    // Only scanning announces tags.
    if !goal.isScan { known.includesFirst = false }
    if session == nil { field.know(known) } else { session?.background.field.know(known) }
  }

  func reach() throws(Interruption) {
    guard !isReached else { return }
    isReached = true
    try daemon.report(.reached(epoch: epoch))
  }

  func sleep() throws(Interruption) {
    guard daemon.epoch == epoch, !daemon.isShuttingDown else { return }
    try daemon.promiseNothing()
    try daemon.sleep(nil)
  }

  /// Makes sure that the field is off at the end. A slow chip may not have executed the last command yet. In that case
  /// the device is opened again, which resets the chip.
  private func finish() {
    if let device {
      do throws(NFCDevice.Failure) {
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
    device = try? NFCDevice.open(leftOn, context, daemon.trace, raisesRate: false)
    try? daemon.promise(daemon.timing.closing)
    device = nil
  }

  /// Switches the field off and sleeps. If `isToAnswer`, the daemon asks whether the device is still there.
  private func rest(_ device: NFCDevice, isToAnswer: Bool) throws(Interruption) {
    if !isAtRest {
      try asking(device) { (device) throws(NFCDevice.Failure) in
        if mayListen { try device.deselect() }
        try device.switchFieldOff()
      }
      selected = nil
      mayListen = false
      isAtRest = true
    } else if isToAnswer {
      try daemon.beat()
      try asking(device) { (device) throws(NFCDevice.Failure) in try device.switchFieldOff() }
    }
    try reach()
    try sleep()
  }

  /// A resting tag keeps its state if its technology is still polled.
  private func configure(_ polling: ReaderPolling) {
    options.take(polling)
    let technologies = options.technologies
    field.look(for: technologies.modulations) { technologies.include($0) }
    plan = PollPlan(options)
    presence = PresencePlan(plan, options)
  }

  private func scan(_ device: NFCDevice) throws(Interruption) {
    try daemon.beat()
    // A step takes at least one look, so check for new commands first.
    if try isInterrupted() { return }
    if !isReached {
      isAtRest = false
      // The first step switches the field off, so that every tag starts from its initial state.
      plan.begin(at: .now)
      presence.begin()
      try reach()
    }
    if field.resting.isEmpty { try poll(device) } else { try watch(device) }
  }

  // MARK: The daemon

  func report(_ message: ReaderMessage) throws(Interruption) { try daemon.report(message) }

  func isInterrupted() throws(Interruption) -> Bool {
    try daemon.isInterrupted(epoch, yieldsToRequests: session != nil)
  }

  /// At most `ReaderTiming.longestPause`. The daemon does not allow a longer silence.
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

/// Finding, opening, losing and lending the device.
extension TargetReader {
  func find() throws(Interruption) {
    let isInDoubt = last.leftOn != nil
    switch schedule.step(wantsScanning: goal.usesField, isFieldInDoubt: isInDoubt, at: .now) {
    case .open: try open()
    case .wait(let duration):
      try pause(duration)
    case .sleep: try sleep()
    }
  }

  private func open() throws(Interruption) {
    daemon.timing = ReaderTiming(device: options.device)
    try daemon.promise(daemon.timing.opening)
    if let path = confinement.newDevice { return try give(path) }
    let state: ReaderDeviceState
    let refusal = confinement.refusal.map { DeviceSearch.Obstacle(state: .failed(reason: $0)) }
    let search = DeviceSearch(configured: options.device, known: last.known)
    switch refusal.map(Result.failure) ?? search.candidate(context) {
    case .failure(let obstacle):
      state = obstacle.state
      schedule.failed(nil, isAbsent: state.isAbsent, at: .now)
    case .success(let connectionString):
      switch open(connectionString) {
      case .failure(let failure):
        schedule.failed(connectionString, at: .now)
        if failure.isFieldInDoubt { last.failed(fieldOf: connectionString) }
        last.failed(isRateInDoubt: failure.isRateInDoubt)
        let rate = last.isRateInDoubt ? NFCDevice.rateAdvice : ""
        let doubt = last.leftOn == nil ? "" : "; its field may be on until it answers"
        state = .failed(reason: failure.reason + rate + schedule.advice(on: connectionString) + doubt)
      case .success(let device):
        self.device = device
        let isAnother = last.open(connectionString)
        // Opening has reset the chip, so the field is off.
        isReached = false
        daemon.timing = ReaderTiming(device: connectionString)
        device.beforeCommand = { [daemon] in try? daemon.beat() }
        openedAt = .now
        timesOff = -1
        isAtRest = false
        try report(.state(.ready(name: device.name, device: device.connectionString)))
        try noteRate(of: device)
        if isAnother { try changed() }
        return
      }
    }
    if state.isAbsent { last.areAway() }
    try report(.state(state))
    // An unplugged device has no tags any more. The tags of a silent device may still lie on it.
    if state.isAbsent { try handle(field.readerLeft()) }
  }

  /// A device was plugged in again at `path`. The former device is gone, and only a new process may open this one.
  private func give(_ path: String) throws(Interruption) {
    last.areAway()
    try report(.state(.absent(reason: "\(path) was plugged in again")))
    try handle(field.readerLeft())
    try report(.successorWanted)
    isOver = true
  }

  /// A different device: the tags of the former one do not lie on it.
  private func changed() throws(Interruption) {
    if let leftOn = last.leftOn {
      try report(.log(.warning, "\(leftOn) failed earlier; its field may be on until it is unplugged"))
    }
    try handle(field.readerLeft())
  }

  private func open(_ connectionString: String) -> Result<NFCDevice, NFCDevice.Failure> {
    Result { () throws(NFCDevice.Failure) in
      try NFCDevice.open(connectionString, context, daemon.trace, raisesRate: !last.keepsRate)
    }
  }

  private func noteRate(of device: NFCDevice) throws(Interruption) {
    guard let rate = device.rate, rate != last.rate else { return }
    let isInitial = rate == SerialRate.initial.baud
    last.rate = rate
    if isInitial { last.keepRate() }
    let reason = isInitial ? ", because it does not work at a higher one" : ""
    try report(.log(isInitial ? .info : .debug, "the serial line is used at \(rate) baud\(reason)"))
  }

  func lose(_ failure: NFCDevice.Failure) throws(Interruption) {
    // Closing may have to wait for a silent chip.
    try daemon.promise(daemon.timing.closing)
    let connectionString = device?.connectionString
    if device?.isFieldOn == true { last.failed(fieldOf: connectionString) }
    last.lost(after: openedAt.duration(to: .now))
    device = nil
    selected = nil
    mayListen = false
    daemon.allow(.zero)
    daemon.dropRequests()
    try daemon.report(.log(.warning, failure.reason))
    if goal.usesField { isReached = false }
    try daemon.report(.state(.failed(reason: failure.reason)))
    schedule.lost(connectionString, openedAt: openedAt, at: .now)
    dropSession()
  }

  /// Closes the device so that another program can open it, and sleeps.
  func lend() throws(Interruption) {
    if let device {
      try letGo(device)
      try asking(device) { (device) throws(NFCDevice.Failure) in try device.switchFieldOff() }
      try daemon.promise(daemon.timing.closing)
    }
    device = nil
    (isAtRest, isLent) = (false, true)
    daemon.forgetState()
    try reach()
    try sleep()
  }
}

extension ReaderDeviceState {
  fileprivate var isAbsent: Bool { if case .absent = self { true } else { false } }
}

/// Polling for tags and watching resting tags.
extension TargetReader {
  func poll(_ device: NFCDevice) throws(Interruption) {
    switch plan.next(at: .now) {
    case .look(let modulation):
      let tags = try list(modulation, device)
      try handle(field.looked(for: modulation, found: tags))
      try settleRound()
      // Reading took time with the field on, which the plan does not include. The tag may also be gone already.
      if !tags.isEmpty { plan.begin(at: .now) }
      if !field.resting.isEmpty { presence.begin() }
    case .fieldOff:
      try asking(device) { (device) throws(NFCDevice.Failure) in try device.switchFieldOff() }
    case .pause(let duration):
      try pause(duration)
    }
  }

  func watch(_ device: NFCDevice) throws(Interruption) {
    // The client may wait for the end of the round, so look for all technologies without a pause.
    if session?.round.isOpen == true { presence.begin() }
    switch presence.next(field.resting, selected: selected, at: .now) {
    case .pause(let duration):
      try pause(duration)
    case .check:
      guard let tag = selected else { return }
      if try isPresent(tag, device) { return }
      presence.checkFailed()
      field.checkFailed(tag)
      try letGo(device)
    case .fieldOff:
      selected = nil
      mayListen = false
      try asking(device) { (device) throws(NFCDevice.Failure) in try device.switchFieldOff() }
    case .look(let modulations, let isAnew):
      try look(for: modulations, isAnew: isAnew, device)
    }
    if field.resting.isEmpty { plan.begin(at: .now) }
  }

  private func look(for modulations: [Modulation], isAnew: Bool, _ device: NFCDevice) throws(Interruption) {
    var outcomes = try list(modulations, isAnew: isAnew, device)
    if try isInterrupted() { return try giveUp(outcomes) }
    // A new tag may have replaced a resting one. Find out first, because reading takes time.
    let missed = Set(field.resting.filter { $0.misses > 0 }.compactMap(\.tag.modulation))
    if !missed.isEmpty, outcomes.contains(where: { if case .arrived = $0 { true } else { false } }) {
      do throws(Interruption) {
        outcomes = try list(modulations.filter(missed.contains), isAnew: true, device) + outcomes
      } catch {
        try giveUp(outcomes)
        throw error
      }
    }
    try handle(outcomes)
    try settleRound()
    // Looking for a second tag has put the first one to sleep, so select it again.
    guard !presence.isIdle, selected == nil, field.resting.count == 1, let resting = field.resting.first,
      resting.misses == 0, try !isInterrupted()
    else {
      return
    }
    try selectAgain(resting.tag, device)
  }

  /// If `isAnew`, the field is switched off first.
  private func list(
    _ modulations: [Modulation], isAnew: Bool, _ device: NFCDevice
  ) throws(Interruption) -> [TargetField.Outcome] {
    try letGo(device)
    if isAnew { try asking(device) { (device) throws(NFCDevice.Failure) in try device.switchFieldOff() } }
    var outcomes: [TargetField.Outcome] = []
    do throws(Interruption) {
      for modulation in modulations {
        // The next look makes the chip forget a found tag. A tag that is still awake would not answer that look.
        try letGo(device)
        outcomes += field.looked(for: modulation, found: try list(modulation, device))
        try daemon.beat()
        if try isInterrupted() { break }
      }
    } catch {
      if case .deviceLost = error { try giveUp(outcomes) }
      throw error
    }
    return outcomes
  }

  /// The device failed, or the daemon interrupted the work. Reports the earlier outcomes. An unread tag is new when
  /// it is found again.
  private func giveUp(_ outcomes: [TargetField.Outcome]) throws(Interruption) {
    session?.round.brokeOff()
    for outcome in outcomes {
      switch outcome {
      case .arrived(let number, _): field.unread(number)
      case .uncertain(_, _, let tag): field.unread(tag)
      case .left, .known, .recognized, .unwanted: try send(outcome)
      }
    }
  }

  /// A single tag is selected afterwards, unless the look was for two.
  private func list(_ modulation: Modulation, _ device: NFCDevice) throws(Interruption) -> [TagActivation] {
    noticeFieldOff(device)
    let mayBeTwo =
      modulation.mayBeTwo
      && (field.isFirst(modulation) || field.resting.contains { $0.tag.modulation == modulation })
    let tags = try asking(device) { (device) throws(NFCDevice.Failure) in
      try device.list(modulation, atMost: mayBeTwo ? 2 : 1)
    }
    // `NFCDevice.list` switches the field off and looks again if an answer is malformed.
    noticeFieldOff(device)
    // A look for one tag that finds one may have missed another.
    if mayBeTwo || !modulation.mayBeTwo || tags.isEmpty { session?.round.looked(for: modulation) }
    mayListen = !tags.isEmpty
    selected = mayBeTwo ? nil : tags.first
    return tags
  }

  /// A tag with a random identifier then has a new one.
  private func noticeFieldOff(_ device: NFCDevice) {
    if device.timesOff != timesOff { field.fieldWentOff() }
    timesOff = device.timesOff
  }

  /// Afterwards `selected` is that tag, another one that answered, or nil.
  func selectAgain(_ tag: TagActivation, _ device: NFCDevice) throws(Interruption) {
    try letGo(device)
    selected = try asking(device) { (device) throws(NFCDevice.Failure) in try device.selectAgain(tag) }
    mayListen = selected != nil
  }

  /// Puts a listening tag to sleep.
  func letGo(_ device: NFCDevice) throws(Interruption) {
    guard mayListen else { return }
    selected = nil
    mayListen = false
    try asking(device) { (device) throws(NFCDevice.Failure) in try device.deselect() }
  }

  func isPresent(_ tag: TagActivation, _ device: NFCDevice) throws(Interruption) -> Bool {
    // An ignored tag gets no command. The chip only looks for it.
    let isLeftAlone = field.resting.contains { ($0.isSuspect || $0.number == nil) && $0.tag.isSameTag(as: tag) }
    let check = isLeftAlone ? PresenceCheck.look(sleepFirst: true) : PresenceCheck(tag)
    return try asking(device) { (device) throws(NFCDevice.Failure) in try check.perform(tag, on: device) }
  }

  /// Reports the outcomes, then reads the new tags.
  func handle(_ outcomes: [TargetField.Outcome]) throws(Interruption) {
    var newcomers = outcomes.filter(\.isToBeRead)[...]
    for outcome in outcomes where !outcome.isToBeRead { try send(outcome) }
    while let newcomer = newcomers.popFirst() {
      if try isInterrupted() { return try giveUp([newcomer] + newcomers) }
      do throws(Interruption) {
        try read(newcomer)
      } catch {
        try giveUp(Array(newcomers))
        throw error
      }
    }
  }

  private func read(_ newcomer: TargetField.Outcome) throws(Interruption) {
    switch newcomer {
    case .arrived(let number, let tag) where session != nil: try reportNew(tag, number)
    case .arrived(let number, let tag): try examine(tag, number)
    case .uncertain(let number, let resting, let tag): try compare(tag, number, with: resting)
    case .left, .known, .recognized, .unwanted: break
    }
  }

  func send(_ outcome: TargetField.Outcome) throws(Interruption) {
    if session != nil { return try sendInSession(outcome) }
    switch outcome {
    case .arrived, .uncertain: break
    case .left(let number): try report(.removed(placement: number))
    case .known(let number, let tag): try report(.known(Placement(number, tag)))
    case .recognized(let tag):
      try report(.log(.notice, "a tag that was there before is ignored until it is removed"))
      try report(.log(.debug, "the known tag \(tag.digits) is ignored"))
    case .unwanted(let tag):
      try report(.log(.debug, "the tag \(tag.digits) is ignored: \(tag.type) is not configured"))
    }
  }
}
