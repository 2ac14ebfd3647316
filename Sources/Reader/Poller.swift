import Journal
import ReaderLink
import Tags

/// The life of a reader: finds its device, looks for tags while it may, reads each one once, and notices that it is away.
///
/// Type by type with short looks, the field off in between. There is one type of look so far, Type A; others
/// join in `look`.
final class Poller {
  /// The longest pause between two checks of a tag that rests. With what a check and a second look take on the wire, a tag
  /// that is taken away is noticed within 300 ms.
  private static let presenceInterval = Duration.milliseconds(120)
  /// The pause before a second look where a tag was missed.
  private static let confirmationInterval = Duration.milliseconds(20)
  /// How often a tag is read that gives no true picture: it may just be on its way to the reader.
  private static let attempts = 3
  /// The most that reading a tag may take, all attempts together.
  private static let readingAllowance = Duration.seconds(10)
  /// The most that opening a device takes: libnfc gives a silent chip 1.4 s.
  private static let openingAllowance = Duration.seconds(5)

  private let options: ReaderOptions
  private let daemon: DaemonConnection
  private let context: OpaquePointer
  private var tracker = PlacementTracker()
  private var schedule: OpeningSchedule
  private var counters = ReaderCounters()

  private var device: Device?
  private var openedAt = SuspendingClock.now
  private var isScanning = false
  /// The field is off, and the daemon knows.
  private var isAtRest = false
  /// The tag that the chip has selected; the field is on.
  private var selected: TagActivation?

  init(options: ReaderOptions, link: consuming DaemonLink, context: OpaquePointer) {
    self.options = options
    daemon = DaemonConnection(link)
    self.context = context
    // Without a name the device cannot be told from others that are plugged in.
    schedule = OpeningSchedule(isTold: options.device != nil)
  }

  /// Serves the daemon until it says that it is enough.
  ///
  /// - Throws: `ReaderLinkError` where the daemon is gone.
  func run() throws(ReaderLinkError) {
    defer { device = nil }
    // What the daemon has said before we started comes first: which tags to leave alone, above all.
    try daemon.sleep(.zero)
    while !daemon.isShuttingDown {
      for uid in daemon.takeAvoided() { tracker.avoid(uid) }
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
    if let device { try? device.switchFieldOff() }
  }

  // MARK: The device

  private func find() throws(Interruption) {
    switch schedule.step(wantsScanning: daemon.wantsScanning, at: .now) {
    case .open: try open()
    case .wait(let duration):
      try asking { () throws(ReaderLinkError) in
        try daemon.promise(duration + Self.openingAllowance)
        try daemon.sleep(duration)
      }
    case .sleep:
      try asking { () throws(ReaderLinkError) in
        try daemon.promiseNothing()
        try daemon.sleep(nil)
      }
    }
  }

  private func open() throws(Interruption) {
    try asking { () throws(ReaderLinkError) in try daemon.promise(Self.openingAllowance) }
    let state: ReaderState
    switch DeviceSearch(configured: options.device).candidate(context) {
    case .failure(let obstacle): state = obstacle.state
    case .success(let connectionString):
      switch Self.open(connectionString, context) {
      case .failure(let failure): state = .failed(reason: failure.reason)
      case .success(let device):
        self.device = device
        openedAt = .now
        isAtRest = false
        return try report(.state(.ready(name: device.name, device: device.connectionString)))
      }
    }
    schedule.failed(at: .now)
    try report(.state(state))
    try handle(tracker.readerLeft(), nil)
  }

  private static func open(_ connectionString: String, _ context: OpaquePointer) -> Result<Device, Device.Failure> {
    Result { () throws(Device.Failure) in try Device.open(connectionString, context) }
  }

  private func lose(_ failure: Device.Failure) throws(ReaderLinkError) {
    counters.chipCommands += device?.commands ?? 0
    device = nil
    selected = nil
    try daemon.report(.log(.warning, failure.reason))
    if isScanning { try daemon.report(.scanning(false)) }
    isScanning = false
    try daemon.report(.state(.failed(reason: failure.reason)))
    schedule.lost(openedAt: openedAt, at: .now)
  }

  // MARK: Looking for tags

  /// `isToAnswer`: the daemon wants to know whether the device is there.
  private func rest(_ device: Device, isToAnswer: Bool) throws(Interruption) {
    if !isAtRest {
      try asking(device) { (device) throws(Device.Failure) in
        if selected != nil { try device.release() }
        try device.switchFieldOff()
      }
      selected = nil
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
    if !isScanning {
      isScanning = true
      isAtRest = false
      try report(.scanning(true))
    }
    if let tag = selected {
      // Who has looks in quicker succession than usual wants the next tag noticed as quickly.
      try pause(min(Self.presenceInterval, options.pollInterval * 2))
      guard daemon.wantsScanning, !daemon.isShuttingDown else { return }
      if try isPresent(tag, device) { return }
      selected = nil
      try asking(device) { (device) throws(Device.Failure) in try device.release() }
    }
    try look(device)
  }

  private func look(_ device: Device) throws(Interruption) {
    if let tag = try asking(device, { (device) throws(Device.Failure) in try device.select(.typeA) }) {
      selected = tag
      try handle(tracker.found(tag), tag)
    } else {
      try handle(tracker.nothing(), nil)
      try asking(device) { (device) throws(Device.Failure) in try device.switchFieldOff() }
      try pause(tracker.isOccupied ? Self.confirmationInterval : options.pollInterval)
    }
  }

  /// A check that costs one command. Where there is none for a kind of tag it is looked for anew.
  private func isPresent(_ tag: TagActivation, _ device: Device) throws(Interruption) -> Bool {
    try asking(device) { (device) throws(Device.Failure) in
      switch tag.type {
      case .type2:
        counters.exchanges += 1
        if case .bytes = try device.exchange([0x30, 0x00]) { return true }
        return false
      case .type4A:
        return try device.isCardPresent()
      default:
        return false
      }
    }
  }

  private func handle(_ outcomes: [PlacementTracker.Outcome], _ tag: TagActivation?) throws(Interruption) {
    for outcome in outcomes {
      switch outcome {
      case .arrived(let number):
        if let tag, let device { try examine(tag, number, device) }
      case .left(let number):
        try report(.removed(placement: number))
      case .avoided(let uid):
        let name = uid.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
        try report(.log(.notice, "a tag that was there when the process ended is left alone until it is taken away"))
        try report(.log(.debug, "the tag \(name) is left alone"))
      case .forgotten(let uid):
        try report(.forgotten(uid: uid))
      }
    }
  }

  // MARK: Reading a tag

  private func examine(_ tag: TagActivation, _ number: UInt64, _ device: Device) throws(Interruption) {
    let placement = Placement(number: number, technology: tag.type.description, uid: tag.identifier)
    try report(.examining(placement))
    do throws(Interruption) {
      try examine(tag, placement, device)
      tracker.examined()
    } catch {
      if case .deviceLost(let failure) = error { try interrupt(placement, failure) }
      throw error
    }
  }

  /// The device failed while the tag was read. Once may be a bad frame; a tag with which it happens again and again is a
  /// problem that a person should hear of.
  private func interrupt(_ placement: Placement, _ failure: Device.Failure) throws(Interruption) {
    guard tracker.interrupted() else { return try report(.removed(placement: placement.number)) }
    counters.tags += 1
    let reason = "the reader failed each time it was read: \(failure.reason)"
    try report(.tag(TagReport(placement: placement, content: .problem(reason: reason))))
  }

  private func examine(_ tag: TagActivation, _ placement: Placement, _ device: Device) throws(Interruption) {
    let end = SuspendingClock.now + Self.readingAllowance
    for attempt in 1...Self.attempts {
      guard let reading = try read(tag, until: end, device) else { return try abandon(placement.number) }
      if !reading.isDoubtful || attempt == Self.attempts {
        counters.tags += 1
        try report(.tag(TagReport(placement: placement, content: reading.content)))
        return try reportCounters()
      }
      let again = try asking(device) { (device) throws(Device.Failure) in
        try device.release()
        return try device.select(.typeA)
      }
      guard let again, tracker.found(again).isEmpty else { return try abandon(placement.number) }
    }
  }

  /// The tag is away, or another, or the daemon wants something else: the next look begins anew.
  private func abandon(_ number: UInt64) throws(Interruption) {
    tracker.unread()
    selected = nil
    if let device { try asking(device) { (device) throws(Device.Failure) in try device.release() } }
    try report(.removed(placement: number))
  }

  /// - Returns: what the tag holds; nil where the reading was given up on our side.
  private func read(
    _ tag: TagActivation, until end: SuspendingClock.Instant, _ device: Device
  ) throws(Interruption) -> Reading? {
    if case .typeA(let tag) = tag, !tag.hasValidATS || tag.type == .type4A && tag.ats.isEmpty {
      return Reading(problem: "damaged: the card's answer to select is not of the form that its standard demands")
    }
    var channel = TimedChannel(TargetChannel(device, tag, beforeEach: checkInterruption), until: end)
    defer { counters.exchanges += channel.channel.exchanges }
    do throws(TagChannelError) {
      return Reading(try tag.readNDEF(over: &channel))
    } catch {
      if let failure = channel.channel.failure { throw .deviceLost(failure) }
      if error.code == .aborted { return nil }
      if error.code == .tooSlow { return Reading(problem: "unsupported: \(error.reason)", isDoubtful: false) }
      return Reading(problem: "damaged: while it was read, \(error.reason)")
    }
  }

  // MARK: The daemon

  /// Ends a reading where the daemon wants something else.
  private func checkInterruption() throws(TagChannelError) {
    let isInterrupted: Bool
    do throws(ReaderLinkError) {
      try daemon.beat()
      isInterrupted = try daemon.isInterrupted()
    } catch {
      throw TagChannelError(.aborted, "the daemon is gone")
    }
    guard !isInterrupted else { throw TagChannelError(.aborted, "the daemon wants something else") }
  }

  private func report(_ message: ReaderMessage) throws(Interruption) {
    try asking { () throws(ReaderLinkError) in try daemon.report(message) }
  }

  private func reportCounters() throws(Interruption) {
    var counters = counters
    counters.chipCommands += device?.commands ?? 0
    try report(.counters(counters))
  }

  private func pause(_ duration: Duration) throws(Interruption) {
    try asking { () throws(ReaderLinkError) in try daemon.pause(duration) }
  }
}
