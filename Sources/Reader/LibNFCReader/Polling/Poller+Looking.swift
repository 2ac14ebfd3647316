import Journal
import ReaderKit
import ReaderProtocol
import Tags

/// Polling for tags and watching resting tags.
extension Poller {
  /// Performs one step while no tag rests.
  func poll(_ device: NFCDevice) throws(Interruption) {
    switch plan.next(at: .now) {
    case .look(let modulation):
      let tags = try list(modulation, device)
      try handle(tracker.looked(for: modulation, found: tags))
      try settleRound()
      // Reading took time with the field on, which the plan does not include. The tag may also be gone already.
      if !tags.isEmpty { plan.begin(at: .now) }
      if !tracker.resting.isEmpty { presence.begin() }
    case .fieldOff:
      try asking(device) { (device) throws(NFCDevice.Failure) in try device.switchFieldOff() }
    case .pause(let duration):
      try pause(duration)
    }
  }

  /// Performs one step while tags rest.
  func watch(_ device: NFCDevice) throws(Interruption) {
    // The client may wait for the end of the round, so look for all technologies without a pause.
    if session?.round.isOpen == true { presence.begin() }
    switch presence.next(tracker.resting, selected: selected, at: .now) {
    case .pause(let duration):
      try pause(duration)
    case .check:
      guard let tag = selected else { return }
      if try isPresent(tag, device) { return }
      presence.checkFailed()
      tracker.checkFailed(tag)
      try letGo(device)
    case .fieldOff:
      selected = nil
      mayListen = false
      try asking(device) { (device) throws(NFCDevice.Failure) in try device.switchFieldOff() }
    case .look(let modulations, let isAnew):
      try look(for: modulations, isAnew: isAnew, device)
    }
    if tracker.resting.isEmpty { plan.begin(at: .now) }
  }

  private func look(for modulations: [Modulation], isAnew: Bool, _ device: NFCDevice) throws(Interruption) {
    var outcomes = try list(modulations, isAnew: isAnew, device)
    if try isInterrupted() { return try giveUp(outcomes) }
    // A new tag may have replaced a resting one. Find out first, because reading takes time.
    let missed = Set(tracker.resting.filter { $0.misses > 0 }.compactMap(\.tag.modulation))
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
    guard !presence.isIdle, selected == nil, tracker.resting.count == 1, let resting = tracker.resting.first,
      resting.misses == 0, try !isInterrupted()
    else {
      return
    }
    try selectAgain(resting.tag, device)
  }

  /// Looks for several technologies. If `isAnew`, the field is switched off first.
  private func list(
    _ modulations: [Modulation], isAnew: Bool, _ device: NFCDevice
  ) throws(Interruption) -> [PlacementTracker.Outcome] {
    try letGo(device)
    if isAnew { try asking(device) { (device) throws(NFCDevice.Failure) in try device.switchFieldOff() } }
    var outcomes: [PlacementTracker.Outcome] = []
    do throws(Interruption) {
      for modulation in modulations {
        // The next look makes the chip forget a found tag. A tag that is still awake would not answer that look.
        try letGo(device)
        outcomes += tracker.looked(for: modulation, found: try list(modulation, device))
        try daemon.beat()
        if try isInterrupted() { break }
      }
    } catch {
      if case .deviceLost = error { try giveUp(outcomes) }
      throw error
    }
    return outcomes
  }

  /// Reports the outcomes from before the device failed or the daemon interrupted the work. An unread tag is new when
  /// it is found again.
  private func giveUp(_ outcomes: [PlacementTracker.Outcome]) throws(Interruption) {
    session?.round.brokeOff()
    for outcome in outcomes {
      switch outcome {
      case .arrived(let number, _): tracker.unread(number)
      case .uncertain(_, _, let tag): tracker.unread(tag)
      case .left, .known, .recognized, .unwanted: try send(outcome)
      }
    }
  }

  /// Looks for one technology. A single tag is selected afterwards, unless the look was for two.
  private func list(_ modulation: Modulation, _ device: NFCDevice) throws(Interruption) -> [TagActivation] {
    noticeFieldOff(device)
    let mayBeTwo =
      modulation.mayBeTwo
      && (tracker.isFirst(modulation) || tracker.resting.contains { $0.tag.modulation == modulation })
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

  /// Records in the tracker that the field was off: a tag with a random identifier then has a new one.
  private func noticeFieldOff(_ device: NFCDevice) {
    if device.timesOff != timesOff { tracker.fieldWentOff() }
    timesOff = device.timesOff
  }

  /// Looks for a tag that was found before. Afterwards `selected` is that tag, another one that answered, or nil.
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
    let isLeftAlone = tracker.resting.contains { ($0.isSuspect || $0.number == nil) && $0.tag.isSameTag(as: tag) }
    let check = isLeftAlone ? PresenceCheck.look(sleepFirst: true) : PresenceCheck(tag)
    return try asking(device) { (device) throws(NFCDevice.Failure) in try check.perform(tag, on: device) }
  }

  /// Reports the outcomes of looks, then reads the new tags.
  func handle(_ outcomes: [PlacementTracker.Outcome]) throws(Interruption) {
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

  private func read(_ newcomer: PlacementTracker.Outcome) throws(Interruption) {
    switch newcomer {
    case .arrived(let number, let tag) where session != nil: try reportNew(tag, number)
    case .arrived(let number, let tag): try examine(tag, number)
    case .uncertain(let number, let resting, let tag): try compare(tag, number, with: resting)
    case .left, .known, .recognized, .unwanted: break
    }
  }

  func send(_ outcome: PlacementTracker.Outcome) throws(Interruption) {
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
