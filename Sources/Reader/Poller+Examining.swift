import ReaderLink
import Tags

/// Reading a tag that has come.
extension Poller {
  /// How often a tag is read that gives no true picture: it may just be on its way to the reader.
  private static let attempts = 3
  /// The most that reading a tag may take, all attempts together.
  private static let readingAllowance = Duration.seconds(10)

  /// Reads a tag and says what it holds.
  func examine(_ tag: TagActivation, _ number: UInt64) throws(Interruption) {
    guard let device else { return }
    let placement = Placement(number, tag)
    try report(.examining(placement))
    let examination: Examination
    do throws(Interruption) {
      examination = try readAll(tag, insteadOf: [number], device)
    } catch {
      if case .deviceLost(let failure) = error { try interrupt(placement, failure) }
      throw error
    }
    switch examination {
    case .read(let examined):
      tracker.examined(number, examined.tag, examined.content)
      try announce(number, examined)
    case .lost(let examined):
      guard tracker.interrupted(number) else { return try abandon(number, device) }
      try announce(number, examined)
      try release(device)
    case .interrupted:
      tracker.unread(number)
      try abandon(number, device)
    }
  }

  /// Reads a tag that may be one that rests and was announced; says nothing where it holds the same.
  func compare(_ tag: TagActivation, _ number: UInt64, with resting: UInt64) throws(Interruption) {
    guard let device else { return }
    let placement = Placement(number, tag)
    try report(.examining(placement))
    let examination: Examination
    do throws(Interruption) {
      examination = try readAll(tag, insteadOf: [number, resting], device)
    } catch {
      if case .deviceLost(let failure) = error { try interrupt(placement, tag, inPlaceOf: resting, failure) }
      throw error
    }
    switch examination {
    case .read(let examined):
      if tracker.compared(number, with: resting, examined.tag, examined.content) {
        return try report(.removed(placement: number))
      }
      try report(.removed(placement: resting))
      try announce(number, examined)
    case .lost(let examined):
      guard tracker.interrupted(number, with: resting, tag) else { return try abandon(number, device) }
      try report(.removed(placement: resting))
      try announce(number, examined)
      try release(device)
    case .interrupted:
      tracker.unread(tag)
      try abandon(number, device)
    }
  }

  private func announce(_ number: UInt64, _ examined: Examined) throws(Interruption) {
    try report(.tag(epoch: epoch, TagReport(placement: Placement(number, examined.tag), content: examined.content)))
  }

  /// The device failed while the tag was read. Once may be a bad frame; a tag with which it happens again and again is a
  /// problem that a person should hear of.
  private func interrupt(_ placement: Placement, _ failure: Device.Failure) throws(Interruption) {
    guard tracker.interrupted(placement.number) else { return try report(.removed(placement: placement.number)) }
    try reportUnreadable(placement, failure)
  }

  /// The same for a tag that may be the one that rests, which stays what it was unless this happens again and again.
  private func interrupt(
    _ placement: Placement, _ tag: TagActivation, inPlaceOf resting: UInt64, _ failure: Device.Failure
  ) throws(Interruption) {
    guard tracker.interrupted(placement.number, with: resting, tag) else {
      return try report(.removed(placement: placement.number))
    }
    try report(.removed(placement: resting))
    try reportUnreadable(placement, failure)
  }

  private func reportUnreadable(_ placement: Placement, _ failure: Device.Failure) throws(Interruption) {
    let reason = "the reader failed each time it was read: \(failure.reason)"
    try report(.tag(epoch: epoch, TagReport(placement: placement, content: .problem(reason: reason))))
  }

  /// What a tag holds, and what it says of itself since it was selected last: each time may bring another identifier.
  private struct Examined {
    let content: TagReport.Content
    let tag: TagActivation

    /// - Parameters:
    ///   - tag: the tag.
    ///   - reading: what was read of it; nil where it was not.
    ///   - another: what answers in its place; nil where nothing does.
    init(_ tag: TagActivation, _ reading: Reading?, another: TagActivation? = nil) {
      self.tag = tag
      let obstacle =
        another == nil
        ? "damaged: the tag is found, but cannot be selected"
        : "the tag is found, but another one answers in its place; lay it on the reader alone"
      content = reading?.content ?? .problem(reason: obstacle)
    }
  }

  /// What has come of reading a tag as often as it takes.
  private enum Examination {
    case read(Examined)
    /// It could not be selected again, or another one was in its place. Most often it is away. Where it is found each time and then
    /// not selected again, this is all there is to say of it.
    case lost(Examined)
    /// The daemon wants something else.
    case interrupted
  }

  /// Reads a tag as often as it takes.
  ///
  /// - Parameters:
  ///   - wanted: the tag.
  ///   - numbers: those that it may have. What rests under another one is another tag, and was announced or is left alone.
  ///   - device: the chip.
  /// - Returns: what has come of it.
  /// - Throws: `Interruption` where the device fails.
  private func readAll(
    _ wanted: TagActivation, insteadOf numbers: [UInt64], _ device: Device
  ) throws(Interruption) -> Examination {
    let end = SuspendingClock.now + Self.readingAllowance
    if selected != wanted { try selectAgain(wanted, device) }
    guard var tag = selected, tag.isSamePlacement(as: wanted) else {
      return .lost(Examined(wanted, nil, another: selected))
    }
    var before: Reading?
    for attempt in 1...Self.attempts {
      guard let reading = try read(&tag, until: end, device) else { return .interrupted }
      guard !isAnother(tag, than: numbers) else { return .lost(Examined(wanted, before, another: tag)) }
      if !reading.isDoubtful(after: before) || attempt == Self.attempts { return .read(Examined(tag, reading)) }
      before = reading
      if try isInterrupted() { return .interrupted }
      let again = try asking(device) { (device) throws(Device.Failure) in try device.selectAnew(tag) }
      guard let again, !isAnother(again, than: numbers) else { return .lost(Examined(wanted, before)) }
      // What it says of itself may have been read half, too.
      tag = again
      selected = again
      mayListen = true
    }
    return .interrupted
  }

  private func isAnother(_ tag: TagActivation, than numbers: [UInt64]) -> Bool {
    tracker.resting.contains { resting in
      !numbers.contains { $0 == resting.number } && resting.tag.isSameTag(as: tag)
    }
  }

  /// Lets go of a tag that is not announced. What is known is said first: where the device fails, nothing else would end the placement.
  private func abandon(_ number: UInt64, _ device: Device) throws(Interruption) {
    try report(.removed(placement: number))
    try release(device)
  }

  /// Lets go of what is selected: the next look begins anew.
  private func release(_ device: Device) throws(Interruption) {
    selected = nil
    mayListen = false
    try asking(device) { (device) throws(Device.Failure) in try device.release() }
  }

  /// - Parameters:
  ///   - tag: what is selected; afterwards what is selected then.
  ///   - end: until when it may be read.
  ///   - device: the chip.
  /// - Returns: what the tag holds; nil where the reading was given up on our side.
  /// - Throws: `Interruption` where the device fails.
  private func read(
    _ tag: inout TagActivation, until end: SuspendingClock.Instant, _ device: Device
  ) throws(Interruption) -> Reading? {
    if case .typeA(let tag) = tag, !tag.hasValidATS || tag.type == .type4A && tag.ats.isEmpty {
      return Reading(problem: "damaged: the card's answer to select is not of the form that its standard demands")
    }
    let target = TargetChannel(device, tag, doubtsRepetitions: true, beforeEach: checkInterruption)
    var channel = TimedChannel(target, until: end)
    defer {
      tag = channel.channel.tag
      selected = tag
    }
    do throws(TagChannelError) {
      return Reading(try tag.readNDEF(over: &channel))
    } catch {
      if let failure = channel.channel.failure { throw .deviceLost(failure) }
      if error.code == .aborted { return nil }
      if [.tooSlow, .tooManyExchanges].contains(error.code) {
        return Reading(problem: "unsupported: \(error.reason)", doubt: .none)
      }
      return Reading(problem: "damaged: while it was read, \(error.reason)")
    }
  }

  /// Ends a reading where the daemon wants something else.
  private func checkInterruption() throws(TagChannelError) {
    let isInterrupted: Bool
    do throws(Interruption) {
      try daemon.beat()
      isInterrupted = try daemon.isInterrupted(epoch)
    } catch {
      throw TagChannelError(.aborted, "the daemon is gone")
    }
    guard !isInterrupted else { throw TagChannelError(.aborted, "the daemon wants something else") }
  }
}
