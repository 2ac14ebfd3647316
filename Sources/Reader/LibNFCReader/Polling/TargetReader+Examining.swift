import Names
import PN53x
import ReaderKit
import ReaderProtocol
import Tags

extension TargetReader {
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
      field.examined(number, examined.tag, examined.content)
      try announce(number, examined)
    case .lost(let examined):
      guard field.interrupted(number) else { return try abandon(number, device) }
      try announce(number, examined)
      try release(device)
    case .interrupted:
      field.unread(number)
      try abandon(number, device)
    }
  }

  /// `resting` was announced. If both tags hold the same content, the tag is not announced again.
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
      if field.compared(number, with: resting, examined.tag, examined.content) {
        return try report(.removed(placement: number))
      }
      try report(.removed(placement: resting))
      try announce(number, examined)
    case .lost(let examined):
      guard field.interrupted(number, with: resting, tag) else { return try abandon(number, device) }
      try report(.removed(placement: resting))
      try announce(number, examined)
      try release(device)
    case .interrupted:
      field.unread(tag)
      try abandon(number, device)
    }
  }

  private func announce(_ number: UInt64, _ examined: Examined) throws(Interruption) {
    try report(.tag(epoch: epoch, TagReport(placement: Placement(number, examined.tag), content: examined.content)))
  }

  /// A device failure while a tag was read. A single failure may be a bad frame. The user gets an error if it happens
  /// `InterruptedTags.most` times in a row with the same tag.
  private func interrupt(_ placement: Placement, _ failure: NFCDevice.Failure) throws(Interruption) {
    guard field.interrupted(placement.number) else { return try report(.removed(placement: placement.number)) }
    try reportUnreadable(placement, failure)
  }

  /// Like `interrupt(_:_:)`, for a tag that may be the resting tag `resting`. That one keeps its state unless the
  /// failure repeats as often.
  private func interrupt(
    _ placement: Placement, _ tag: TagActivation, inPlaceOf resting: UInt64, _ failure: NFCDevice.Failure
  ) throws(Interruption) {
    guard field.interrupted(placement.number, with: resting, tag) else {
      return try report(.removed(placement: placement.number))
    }
    try report(.removed(placement: resting))
    try reportUnreadable(placement, failure)
  }

  private func reportUnreadable(_ placement: Placement, _ failure: NFCDevice.Failure) throws(Interruption) {
    let reason = "the reader failed at each attempt to read the tag: \(failure.reason)"
    try report(.tag(epoch: epoch, TagReport(placement: placement, content: .problem(reason: reason))))
  }

  /// A tag's content and its latest activation. Its identifier may differ after each selection.
  private struct Examined {
    let content: TagReport.Content
    let tag: TagActivation

    /// `before` is the previous attempt.
    init(_ tag: TagActivation, _ reading: Reading, after before: Reading?) {
      self.tag = tag
      content = reading.finalContent(after: before)
    }

    /// The tag was lost after this reading. `another` is the tag that answers in its place.
    init(_ tag: TagActivation, _ reading: Reading?, another: TagActivation? = nil) {
      self.tag = tag
      let obstacle =
        another == nil
        ? "damaged: the reader finds the tag but cannot select it"
        : "another tag answers in its place; put only one tag on the reader"
      content = reading?.finalContent() ?? .problem(reason: obstacle)
    }
  }

  /// The result of reading a tag, repeated attempts included.
  private enum Examination {
    case read(Examined)
    /// The tag could not be selected again, or another tag answered in its place. The tag is usually gone. If looks
    /// find it each time but it can never be selected, this is its final result.
    case lost(Examined)
    /// The daemon has changed the goal or is shutting this process down.
    case interrupted
  }

  /// Repeats a doubtful reading. `numbers` are the placements that the tag may belong to. A resting tag with another
  /// number is a different tag, which was announced or is ignored.
  private func readAll(
    _ wanted: TagActivation, insteadOf numbers: [UInt64], _ device: NFCDevice
  ) throws(Interruption) -> Examination {
    let end = SuspendingClock.now + Reading.allowance
    if selected != wanted { try selectAgain(wanted, device) }
    guard var tag = selected, tag.isSamePlacement(as: wanted) else {
      return .lost(Examined(wanted, nil, another: selected))
    }
    var before: Reading?
    for attempt in 1...Reading.attempts {
      guard let reading = try read(&tag, until: end, device) else { return .interrupted }
      guard !isAnother(tag, than: numbers) else { return .lost(Examined(wanted, before, another: tag)) }
      if !reading.isDoubtful(after: before) || attempt == Reading.attempts {
        return .read(Examined(tag, reading, after: before))
      }
      before = reading
      if try isInterrupted() { return .interrupted }
      let again = try asking(device) { (device) throws(NFCDevice.Failure) in try device.selectAnew(tag) }
      guard let again, !isAnother(again, than: numbers) else { return .lost(Examined(wanted, before)) }
      // The activation data may have been incomplete, too.
      tag = again
      selected = again
      mayListen = true
    }
    return .interrupted
  }

  private func isAnother(_ tag: TagActivation, than numbers: [UInt64]) -> Bool {
    field.resting.contains { resting in
      !numbers.contains { $0 == resting.number } && resting.tag.isSameTag(as: tag)
    }
  }

  /// Reports a tag that is not announced as removed, then releases it. The report comes first, because no later step
  /// would end the placement if the device fails.
  private func abandon(_ number: UInt64, _ device: NFCDevice) throws(Interruption) {
    try report(.removed(placement: number))
    try release(device)
  }

  /// All tags are reset, so that the next look finds them in their initial state.
  private func release(_ device: NFCDevice) throws(Interruption) {
    selected = nil
    mayListen = false
    try asking(device) { (device) throws(NFCDevice.Failure) in try device.release() }
  }

  /// Updates `tag` if it is selected again. Nil if this process stopped the reading.
  private func read(
    _ tag: inout TagActivation, until end: SuspendingClock.Instant, _ device: NFCDevice
  ) throws(Interruption) -> Reading? {
    if let malformed = Reading(improper: tag) { return malformed }
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
      return Reading(failure: error)
    }
  }

  /// Fails if the daemon has changed the goal or is shutting this process down.
  func checkInterruption() throws(TagChannelError) {
    let isInterrupted: Bool
    do throws(Interruption) {
      try daemon.beat()
      isInterrupted = try daemon.isInterrupted(epoch)
    } catch {
      throw TagChannelError(.aborted, "the daemon is gone")
    }
    guard !isInterrupted else { throw TagChannelError(.aborted, "the daemon has another goal") }
  }
}
