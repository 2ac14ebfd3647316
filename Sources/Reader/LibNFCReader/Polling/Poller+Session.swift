import Names
import PN53x
import ReaderKit
import ReaderProtocol
import Tags

/// Reader sessions. Tags are polled and watched as during scanning, but reported to the client instead of read. The
/// client's requests then operate on them.
extension Poller {
  /// The longest time from the last exchange with the engaged tag, or its last check, to the next check. A client that
  /// works step by step sends its next command within this time.
  private static let checkInterval = Duration.milliseconds(150)

  /// Performs one step of the reader session.
  func serve(_ options: TagSessionOptions, _ device: NFCDevice) throws(Interruption) {
    if session == nil { try begin(options, device) }
    try daemon.beat()
    if let options = daemon.takeRestart() { return try restart(options, device) }
    if let request = daemon.takeRequest() { return try perform(request, device) }
    if try isInterrupted() { return }
    if tracker.resting.isEmpty { return try poll(device) }
    if let number = session?.engaged, let tag = selected { return try serve(tag, number, device) }
    try watch(device)
  }

  private func begin(_ options: TagSessionOptions, _ device: NFCDevice) throws(Interruption) {
    try letGo(device)
    session = TagSession(
      options, background: Background(tracker: tracker, plan: plan, presence: presence))
    lookAnew(options, device)
    isAtRest = false
    try reach()
  }

  /// Forgets all tags and polls for these technologies and systems, at least every `ReaderTiming.pollInterval`.
  private func lookAnew(_ options: TagSessionOptions, _ device: NFCDevice) {
    session?.restart(options)
    device.declaredSystems = options.systemCodes
    let technologies = options.technologies
    tracker = PlacementTracker(technologies.modulations, after: tracker.lastNumber) { technologies.contains($0) }
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
  func end(_ session: TagSession) throws(Interruption) {
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
    background.tracker.continue(after: tracker.lastNumber)
    (tracker, plan, presence) = (background.tracker, background.plan, background.presence)
  }

  // MARK: Tags

  /// Reports a tag of the session that was removed.
  func sendInSession(_ outcome: PlacementTracker.Outcome) throws(Interruption) {
    if case .left(let number) = outcome { try missed(number) }
  }

  /// Reports that the tag of a placement is gone, if the tag was reported before.
  private func missed(_ number: UInt64) throws(Interruption) {
    guard let session, session.reported[number] != nil else { return }
    self.session?.reported[number] = nil
    if session.engaged == number { self.session?.engaged = nil }
    try report(.sessionTagRemoved(epoch: epoch, placement: number))
  }

  /// Ends the placement of a tag that no longer answers. The tag is new when it is found again.
  func lost(_ number: UInt64) throws(Interruption) {
    tracker.unread(number)
    selected = nil
    try missed(number)
    presence.begin()
    if tracker.resting.isEmpty { plan.begin(at: .now) }
  }

  /// Reports a new tag, unless it is a card without any of the session's applications that the client does not want.
  func reportNew(_ tag: TagActivation, _ number: UInt64) throws(Interruption) {
    guard let device, let current = session else { return }
    var application: Int?
    if tag.isISODEP, !current.polled.applicationIdentifiers.isEmpty {
      guard case .found(let index) = try search(tag, number, current, device) else { return }
      application = index
      // The refused SELECTs may have changed the card's state, so the next operation selects the card again.
      if index == nil { session?.isOutOfStep = true }
    }
    let found = tag.sessionTag(number, application: application)
    session?.reported[number] = found
    session?.applicationIsDue = false
    try report(.sessionTag(epoch: epoch, found))
    session?.round.reported()
  }

  /// Reports the end of a round, if all of its tags are reported.
  func settleRound() throws(Interruption) {
    guard session?.round.settle() == true else { return }
    try report(.sessionRoundEnded(epoch: epoch))
  }

  /// Works on a tag that is not reported yet. The daemon gets the tag's identity first, in case the tag makes this
  /// process fail.
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

  /// The result of the search for an application.
  private enum Applications {
    /// The card is to be reported: with the application of this index in `TagSession.options`, or with none.
    case found(Int?)
    /// The card has none of the applications, and is not to be reported.
    case none
    /// The card no longer answers, or the session has ended.
    case lost
  }

  /// Selects the first of the session's applications that the card has.
  private func search(
    _ tag: TagActivation, _ number: UInt64, _ current: TagSession, _ device: NFCDevice
  ) throws(Interruption) -> Applications {
    let without = current.polled.reportsUndeclaredCards ? Applications.found(nil) : .none
    // A card with a malformed answer to select gets no commands. It keeps its placement, even if it is not reported.
    guard tag.isProper else { return without }
    if selected.map({ !$0.isSameTag(as: tag) }) ?? true { try selectAgain(tag, device) }
    guard let selected, selected.isSameTag(as: tag) else {
      tracker.unread(number)
      return .lost
    }
    let result = try named(tag, number) { () throws(Interruption) in
      for application in current.polled.applicationIdentifiers {
        guard let answer = try exchange(ApplicationSelection.command(application), with: tag, device) else {
          return .lost
        }
        guard ApplicationSelection.isAccepted(answer) else { continue }
        return .found(current.options.applicationIdentifiers.firstIndex(of: application))
      }
      return without
    }
    if case .lost = result {
      tracker.unread(number)
      try letGo(device)
    }
    return result
  }

  /// Returns nil if the tag gave no answer, or if the session ended before the exchange.
  func exchange(
    _ command: [UInt8], with tag: TagActivation, _ device: NFCDevice
  ) throws(Interruption) -> [UInt8]? {
    var channel = TargetChannel(device, tag, beforeEach: checkSession)
    do throws(TagChannelError) {
      return try channel.exchange(command)
    } catch {
      if let failure = channel.failure { throw .deviceLost(failure) }
      return nil
    }
  }

  /// Aborts work on a tag if the session has ended.
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

  /// Performs one step with the engaged tag. The tag gets no command except a presence check.
  private func serve(_ tag: TagActivation, _ number: UInt64, _ device: NFCDevice) throws(Interruption) {
    let before = daemon.isToRestart || !daemon.requests.isEmpty
    if !before { try pause(Self.checkInterval) }
    if try isInterrupted() { return }
    if try isPresent(tag, device) { return }
    // One missed check may be a lost frame. A card that misses two has left its protocol state, and the client's work
    // with it is lost.
    if tag.isISODEP || tag.type == .type3 || tag.type == .type1 {
      if try isPresent(tag, device) { return }
      return try lost(number)
    }
    try selectAgain(tag, device)
    if selected.map({ $0.isSameTag(as: tag) }) != true { try lost(number) }
  }
}

/// Performing a client's operations on the tags of a reader session.
extension Poller {
  private enum Outcome {
    case result(ReaderOperationResult)
    /// The tag gave no valid answer.
    case silence(TagChannelError)
    /// The reader session has ended. The daemon expects no result.
    case over
  }

  func perform(_ request: DaemonConnection.Request, _ device: NFCDevice) throws(Interruption) {
    func answer(_ result: ReaderOperationResult) throws(Interruption) {
      try report(.performed(request: request.number, result))
    }
    let number = request.placement
    guard session?.reported[number] != nil, let tag = tracker.resting.first(where: { $0.number == number })?.tag else {
      return try answer(.failed(.tagLost, reason: "the tag was removed"))
    }
    if let refusal = request.operation.refusal(for: tag) { return try answer(refusal) }
    guard let tag = try select(tag, number, device) else {
      try answer(.failed(.tagLost, reason: "the tag was removed"))
      return try lost(number)
    }
    let outcome: Outcome
    if case .transceive(let command, let timeout) = request.operation {
      session?.engaged = number
      outcome = try transceive(command, .milliseconds(Int64(timeout)), tag, number, device)
    } else {
      if session?.engaged != number { session?.engaged = nil }
      outcome = try operate(request, tag, device)
    }
    switch outcome {
    case .result(let result):
      if case .failed = result { session?.isOutOfStep = true }
      try answer(result)
    case .silence(let error):
      // The tag has refused the command or is gone. Only a tag that is gone ends its placement.
      guard try selectAnew(tag, number, device) else {
        try answer(.failed(.tagLost, reason: "the tag was removed"))
        return try lost(number)
      }
      try answer(.failed(.timeout, reason: error.reason))
    case .over: break
    }
  }

  // MARK: Selecting

  /// Returns nil if the tag is gone.
  private func select(
    _ tag: TagActivation, _ number: UInt64, _ device: NFCDevice
  ) throws(Interruption) -> TagActivation? {
    if let selected, selected.isSameTag(as: tag), session?.isOutOfStep == false { return selected }
    session?.isOutOfStep = false
    try selectAgain(tag, device)
    if let selected, selected.isSameTag(as: tag) { return selected }
    return try selectAnew(tag, number, device) ? selected : nil
  }

  /// Resets all tags by switching the field off, then selects this one again.
  private func selectAnew(
    _ tag: TagActivation, _ number: UInt64, _ device: NFCDevice
  ) throws(Interruption) -> Bool {
    selected = nil
    mayListen = true
    let again = try asking(device) { (device) throws(NFCDevice.Failure) in try device.selectAnew(tag) }
    session?.isOutOfStep = false
    guard let again else { return false }
    selected = again
    tracker.reselected(number, again)
    return true
  }

  // MARK: NDEF

  private func operate(
    _ request: DaemonConnection.Request, _ tag: TagActivation, _ device: NFCDevice
  ) throws(Interruption) -> Outcome {
    let isReading = request.operation == .read || request.operation == .query
    let target = TargetChannel(device, tag, doubtsRepetitions: isReading, beforeEach: checkSession)
    let timed = TimedChannel(target, until: .now + ReaderTiming.operation)
    // A failed report is ignored, because the next exchange notices that the daemon is gone.
    var channel = ProgressChannel(timed, tag.type, counts: isReading ? .reading : .writing) { [daemon] bytes in
      try? daemon.report(.progress(request: request.number, bytes: bytes))
    }
    defer {
      let now = channel.channel.channel.tag
      selected = now
      mayListen = true
      tracker.reselected(request.placement, now)
    }
    do throws(TagChannelError) {
      guard request.operation == .read else { return .result(try request.operation.perform(on: tag, over: &channel)) }
      return .result(try ReaderOperation.read(over: &channel) { $0.channel.channel.tag })
    } catch {
      if let failure = channel.channel.channel.failure { throw .deviceLost(failure) }
      return error.code == .aborted ? .over : .silence(error)
    }
  }

  // MARK: Commands as they are

  private func transceive(
    _ command: [UInt8], _ timeout: Duration, _ tag: TagActivation, _ number: UInt64, _ device: NFCDevice
  ) throws(Interruption) -> Outcome {
    if session?.applicationIsDue == true {
      session?.applicationIsDue = false
      if let application = session?.application(of: number) {
        guard let answer = try exchange(ApplicationSelection.command(application), with: tag, device) else {
          return .silence(TagChannelError(.noAnswer, "the card does not answer"))
        }
        guard ApplicationSelection.isAccepted(answer) else {
          return .result(.failed(.refused, reason: "the card no longer accepts the SELECT of its application"))
        }
      }
    }
    device.tagTimeout = timeout
    // Each step of a libnfc driver may wait that long. The longest APDUs take seconds on a slow line.
    let isLong = tag.isISODEP && command.count >= 7 && command[4] == 0
    daemon.allow(timeout * 4 + (isLong ? .seconds(12) : .seconds(1)))
    defer {
      device.tagTimeout = nil
      daemon.allow(.zero)
    }
    let answer: NFCDevice.Answer
    if tag.isISODEP {
      var isOver = false
      answer = try asking(device) { (device) throws(NFCDevice.Failure) in
        try device.exchangeLong(command, answerRoom: ReaderLimits.answer) {
          isOver = (try? checkSession()) == nil
          return !isOver
        }
      }
      if isOver { return .over }
    } else {
      if (try? checkSession()) == nil { return .over }
      answer = try asking(device) { (device) throws(NFCDevice.Failure) in
        try device.setAnswerTimeout(code: AnswerTimeout.code(atLeast: timeout))
        let answer = try tag.framing.exchange(command, with: device)
        try device.setAnswerTimeout(code: AnswerTimeout.usual)
        return answer
      }
    }
    switch answer {
    case .bytes(let bytes): return .result(.answer(Array(bytes.prefix(ReaderLimits.answer))))
    case .silence, .wrongKey: return .silence(TagChannelError(.noAnswer, "the tag did not answer in time"))
    case .refused(let number):
      return .silence(TagChannelError(.transmission, "the tag gave no valid answer (libnfc error \(number))"))
    }
  }
}

/// The PN53x's codes for how long it waits for a tag's answer (UM0701-02, 7.3.1, item 2). Code n means
/// 100 µs × 2^(n − 1).
enum AnswerTimeout {
  /// 51.2 ms, the chip's default.
  static let usual: UInt8 = 0x0A
  private static let longest: UInt8 = 0x10

  /// Returns the code of the shortest timeout that is at least `time`, or of the longest timeout, 3.28 s.
  static func code(atLeast time: Duration) -> UInt8 {
    (1..<longest).first { .microseconds(100 << Int64($0 - 1)) >= time } ?? longest
  }
}
