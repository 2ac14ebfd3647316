import Names
import PN53x
import ReaderKit
import ReaderProtocol
import Tags

/// The state of a reader session, except for the part that is on the chip.
struct TargetSession {
  var base: TagSession
  /// From before the session. It is restored when the session ends.
  var background: TargetReader.Background
  /// Those not removed since, by placement number.
  var reported: [UInt64: SessionTag] = [:]
  /// The tags that lie there together.
  var round: TagRound
  /// The placement of the tag that got a raw command. The tag may be in a state that only the client understands.
  /// Looking for other tags would end that state, so it does not happen until this tag is gone.
  var engaged: UInt64?

  init(_ options: TagSessionOptions, background: TargetReader.Background) {
    base = TagSession(options)
    self.background = background
    round = TagRound(options.technologies.modulations)
  }

  /// The reader forgets its tags and looks for those of other options, a part of `options`.
  mutating func restart(_ options: TagSessionOptions) {
    base.polled = options
    round = TagRound(options.technologies.modulations)
  }
}

/// A round of tags in a reader session. It begins with the first tag that is reported. It ends once the reader has
/// looked for every technology, so that all tags that lie there together are reported.
///
/// The first look for a technology asks the chip for one tag. It does not count if it finds one, because a second tag
/// may lie beside it. Example with two tags of Type A and one FeliCa card:
///
///     look for one tag of Type A                  finds one, and the round begins
///     look for Type B, FeliCa, two of Type A      finds the two others, and the round ends
///
/// So the round of a single tag ends after one more look for each technology.
struct TagRound {
  private let technologies: Set<Modulation>
  /// Those of the looks in this round. Before a round begins, those of the present step.
  private var covered: Set<Modulation> = []
  /// A tag was reported since the last round ended.
  private(set) var isOpen = false

  init(_ technologies: Set<Modulation>) { self.technologies = technologies }

  /// The look found all tags that the chip can find.
  mutating func looked(for modulation: Modulation) { covered.insert(modulation) }

  mutating func reported() { isOpen = true }

  /// Forgets the looks, because a command of the daemon came before their tags were reported. The next looks find these
  /// tags again.
  mutating func brokeOff() { covered = [] }

  /// The tags of the step's looks are reported. Returns whether the round ends with it.
  mutating func settle() -> Bool {
    defer { if !isOpen { covered = [] } }
    guard isOpen, covered.isSuperset(of: technologies) else { return false }
    isOpen = false
    return true
  }
}

/// Reader sessions. Tags are polled and watched as during scanning, but reported to the client instead of read. The
/// client's requests then operate on them.
extension TargetReader {
  /// The longest time from the last exchange with the engaged tag, or its last check, to the next check. A client that
  /// works step by step sends its next command within this time.
  private static let checkInterval = Duration.milliseconds(150)

  func serve(_ options: TagSessionOptions, _ device: NFCDevice) throws(Interruption) {
    if session == nil { try begin(options, device) }
    try daemon.beat()
    if let options = daemon.takeRestart() { return try restart(options, device) }
    if let request = daemon.takeRequest() { return try perform(request) }
    if try isInterrupted() { return }
    if field.resting.isEmpty { return try poll(device) }
    if let number = session?.engaged, let tag = selected { return try serve(tag, number, device) }
    try watch(device)
  }

  private func begin(_ options: TagSessionOptions, _ device: NFCDevice) throws(Interruption) {
    try letGo(device)
    session = TargetSession(
      options, background: Background(field: field, plan: plan, presence: presence))
    lookAnew(options, device)
    isAtRest = false
    try reach()
  }

  /// Polls for these technologies and systems, at least every `ReaderTiming.pollInterval`.
  private func lookAnew(_ options: TagSessionOptions, _ device: NFCDevice) {
    session?.restart(options)
    device.declaredSystems = options.systemCodes
    let technologies = options.technologies
    field = TargetField(technologies.modulations, after: field.lastNumber) { technologies.contains($0) }
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
    background.field.continue(after: field.lastNumber)
    (field, plan, presence) = (background.field, background.plan, background.presence)
  }

  // MARK: Tags

  func sendInSession(_ outcome: TargetField.Outcome) throws(Interruption) {
    if case .left(let number) = outcome { try missed(number) }
  }

  /// Only if the tag was reported before.
  private func missed(_ number: UInt64) throws(Interruption) {
    guard let session, session.reported[number] != nil else { return }
    self.session?.reported[number] = nil
    if session.engaged == number { self.session?.engaged = nil }
    try report(.sessionTagRemoved(epoch: epoch, placement: number))
  }

  /// Unless the client does not want the tag.
  func reportNew(_ tag: TagActivation, _ number: UInt64) throws(Interruption) {
    guard let device, var base = session?.base else { return }
    if base.searches(tag) {
      if selected.map({ !$0.isSameTag(as: tag) }) ?? true { try selectAgain(tag, device) }
      guard let selected, selected.isSameTag(as: tag) else { return field.unread(number) }
    }
    var channel = TargetChannel(device, tag, beforeEach: checkInterruption)
    let found: SessionTag?
    do throws(TagChannelError) {
      found = try base.examine(tag, number, over: &channel, daemon)
    } catch {
      if let failure = channel.failure { throw .deviceLost(failure) }
      field.unread(number)
      return try letGo(device)
    }
    guard let found else { return }
    session?.base = base
    session?.reported[number] = found
    try report(.sessionTag(epoch: epoch, found))
    session?.round.reported()
  }

  /// If all tags of the round are reported.
  func settleRound() throws(Interruption) {
    guard session?.round.settle() == true else { return }
    try report(.sessionRoundEnded(epoch: epoch))
  }

  /// The engaged tag gets no command except a presence check.
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

extension TargetReader: SessionServer {
  func reportedTag(_ placement: UInt64) -> TagActivation? {
    guard session?.reported[placement] != nil else { return nil }
    return field.resting.first { $0.number == placement }?.tag
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
    var channel = TargetChannel(device, tag, doubtsRepetitions: operation.isReading, beforeEach: checkInterruption)
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
        field.reselected(number, channel.tag)
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
    field.unread(placement)
    selected = nil
    try missed(placement)
    presence.begin()
    if field.resting.isEmpty { plan.begin(at: .now) }
  }

  /// Nil if the tag is gone.
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
    field.reselected(placement, again)
    return nil
  }
}
