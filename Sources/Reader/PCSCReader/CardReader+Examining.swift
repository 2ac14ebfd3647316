import Journal
import Names
import ReaderKit
import ReaderModels
import ReaderProtocol
import Tags

extension CardReader {
  /// How long pcscd's report of a removal may follow the first failed exchange. Drivers that are asked for it are asked
  /// every 400 ms.
  static let removalAllowance = Duration.milliseconds(600)
  /// How often the work on a card begins again because another program has reset it. A program that does not know a
  /// card may reset it without end.
  static let mostResets = 5

  /// The end of the work on a card.
  private enum Ending {
    /// The card is known, recognized, or not wanted. The slot has taken note of it.
    case settled
    case read(TagActivation, TagReport.Content)
    /// The card was taken away, although the reader reports it.
    case left
    /// The card cannot be identified. The type is the nearest one.
    case unidentified(TagType, reason: String)
    case stopped(Setback)
  }

  /// Reads the card if it can be identified, and announces its content.
  func examine() throws(Interruption) {
    guard let card = slot.card, let number = slot.begin() else { return }
    cardInUse = card.serial
    defer { disconnect() }
    let handle = CardHandle(self)
    if let obstacle = card.obstacle {
      return try announce(obstacle.type, "unsupported: \(obstacle.reason)", number, handle)
    }
    switch try study(card, number, handle) {
    case .settled: break
    case .left:
      try report(slot.ignore(at: .now))
      try report(.log(.notice, "the reader reports a card that no longer answers; it is treated as removed"))
    case .read(let tag, let content):
      try report(.tag(epoch: epoch, TagReport(placement: Placement(number, tag), content: content)))
      expectReturn(content, handle)
      try report(slot.read(at: .now))
      signal(content, handle)
    case .unidentified(let type, let reason): try announce(type, reason, number, handle)
    case .stopped(let setback): try stop(setback, number, handle)
    }
  }

  /// The end of a transparent session may look like a removal and an insertion. Else a tag that could not be read, or
  /// has no message, is read again when it comes back.
  private func expectReturn(_ content: TagReport.Content, _ handle: CardHandle) {
    guard !handle.hasOpenedSession else { return slot.expectReturn(at: .now) }
    guard case .message = content else { return slot.expectReturn(false, at: .now) }
  }

  private func stop(_ setback: Setback, _ number: UInt64, _ handle: CardHandle) throws(Interruption) {
    switch setback {
    case .interrupted: try report(slot.interrupted(at: .now))
    case .refused:
      let (isTriedAgain, outcomes) = slot.refused(at: .now)
      try report(outcomes)
      if isTriedAgain {
        try wait(for: Self.exclusiveUse)
      } else {
        try report(.log(.notice, "a card is left to another program, which uses it exclusively"))
      }
    case .mute:
      if let outcomes = slot.mute(at: .now) { return try report(outcomes) }
      // Most cards that a reader finds and cannot power are of this type.
      try announce(
        .type2, "damaged: the reader finds the card but cannot give it power; hold it to the reader again", number,
        handle)
    case .failed, .replaced, .reset, .readerGone: try report(slot.failed(at: .now))
    }
  }

  /// Announces a card without an identifier, with the reason, unless the daemon knows it.
  private func announce(
    _ type: TagType, _ reason: String, _ number: UInt64, _ handle: CardHandle
  ) throws(Interruption) {
    if let outcomes = slot.recognized(type, at: .now) {
      try report(outcomes)
      return try report(.log(.notice, Self.recognizedLine))
    }
    guard !slot.isSilent, slot.wanted.contains(type) else { return try report(slot.ignore(at: .now)) }
    let placement = Placement(number: number, technology: type, uid: [])
    try report(.examining(placement))
    let content = TagReport.Content.problem(reason: reason)
    try report(.tag(epoch: epoch, TagReport(placement: placement, content: content)))
    try report(slot.read(at: .now))
    signal(content, handle)
  }

  private static let recognizedLine = "a tag that was there before is ignored until it is removed"

  // MARK: Attempts

  /// How an attempt to read the card begins.
  private enum Beginning {
    case connect
    /// The card loses its power for a moment.
    case reset
    /// The card has lost its state already.
    case identify
  }

  /// The knowledge from earlier attempts.
  private struct Study {
    var beginning = Beginning.connect
    var attempt = 1
    var resets = 0
    /// Nil until the slot knows it.
    var tag: TagActivation?
    /// Whether the last attempt has identified a card.
    var isIdentified = false
    var reading: Reading?
    /// Counted since the last connection, because the wait for another program does not count.
    var end = SuspendingClock.now
  }

  /// Repeats a doubtful reading.
  private func study(_ card: CardSlot.Card, _ number: UInt64, _ handle: CardHandle) throws(Interruption) -> Ending {
    var study = Study()
    while true {
      let setback: Setback
      do throws(Setback) {
        if let ending = try attempt(&study, card, number, handle) { return ending }
        continue
      } catch {
        setback = error
      }
      switch setback {
      case .interrupted, .readerGone, .refused: return .stopped(setback)
      case .mute where study.attempt == 1: return .stopped(setback)
      case .replaced where slot.isGone: return .stopped(setback)
      case .reset:
        study.resets += 1
        study.beginning = .identify
        guard study.resets <= Self.mostResets else { return conclude(study, "another program resets the card") }
      case .mute, .failed, .replaced:
        let reason = setback.reason
        // Others may use the card meanwhile.
        disconnect()
        do throws(CallFailure) {
          if try isRemoved() { return .stopped(setback) }
        } catch {
          return .stopped(Setback(error))
        }
        guard study.attempt < Reading.attempts, SuspendingClock.now < study.end else {
          return conclude(study, reason)
        }
        study.attempt += 1
        study.beginning = .connect
      }
    }
  }

  /// All attempts have failed.
  private func conclude(_ study: Study, _ reason: String) -> Ending {
    let words = Reading.failed(reason)
    guard let tag = study.tag else { return .unidentified(.type2, reason: words) }
    // Some readers go on reporting a card that was taken away in the middle of a command.
    guard study.isIdentified else { return .left }
    return .read(tag, study.reading?.finalContent() ?? .problem(reason: words))
  }

  /// Nil if there is another attempt.
  private func attempt(
    _ study: inout Study, _ card: CardSlot.Card, _ number: UInt64, _ handle: CardHandle
  ) throws(Setback) -> Ending? {
    let kind = try begin(study.beginning, card, handle)
    if study.beginning == .connect { study.end = .now + Reading.allowance }
    guard kind.isContactless else {
      try withLink { () throws(Interruption) in try report(slot.ignore(at: .now)) }
      return .settled
    }
    study.isIdentified = false
    var link = try makeLink(handle)
    let tag: TagActivation
    switch try asking(handle, { () throws(TagChannelError) in try link.identify(kind) }) {
    case .success(.tag(let found)): tag = found
    case .success(.notSupported(let reason)):
      return .unidentified(kind.nearestType, reason: "unsupported: \(reason)")
    case .failure(let error): throw .failed(error.reason)
    }
    if let before = study.tag {
      guard slot.verify(tag.isSamePlacement(as: before)) else { throw .replaced }
    } else {
      if handle.hasOpenedSession { slot.expectReturn(at: .now) }
      guard try withLink({ () throws(Interruption) in try isNew(tag, number) }) else { return .settled }
    }
    (study.tag, study.isIdentified) = (tag, true)
    let (reading, latest) = try read(tag, link, handle, until: study.end)
    study.tag = latest
    if !reading.isDoubtful(after: study.reading) || study.attempt == Reading.attempts {
      // pcscd may report late that the card was away.
      if study.attempt > 1 { slot.expectReturn(at: .now) }
      return .read(latest, reading.finalContent(after: study.reading))
    }
    study.reading = reading
    study.attempt += 1
    study.beginning = .reset
    return nil
  }

  /// Makes the card ready for commands.
  private func begin(
    _ beginning: Beginning, _ card: CardSlot.Card, _ handle: CardHandle
  ) throws(Setback) -> CardKind {
    switch beginning {
    case .connect: do throws(CallFailure) { try open() } catch { throw Setback(error) }
    case .reset: do throws(CardFailure) { try handle.reset() } catch { throw Setback(error) }
    case .identify: break
    }
    guard card.isWithoutPower else { return card.kind }
    do throws(CardFailure) {
      return slot.powered(try handle.answerToReset())
    } catch {
      // The driver does not tell the answer to reset. pcscd reports it, or not.
      if case .exchange = error { throw .mute }
      throw Setback(error)
    }
  }

  func makeLink(_ handle: CardHandle) throws(Setback) -> CardLink<CardHandle> {
    let traits = try traits(handle)
    return CardLink(handle, model: traits.model, takesExtendedAPDUs: traits.takesExtendedAPDUs)
  }

  /// Asks the driver the first time.
  func traits(_ handle: CardHandle) throws(Setback) -> ReaderTraits {
    if let traits { return traits }
    do throws(CardFailure) {
      let found = ReaderTraits(try handle.properties(), name ?? ReaderName(bytes: []))
      traits = found
      return found
    } catch {
      throw Setback(error)
    }
  }

  /// Whether to read the tag. Otherwise the slot has noted it.
  private func isNew(_ tag: TagActivation, _ number: UInt64) throws(Interruption) -> Bool {
    let (identity, outcomes) = slot.identified(tag, at: .now)
    try report(outcomes)
    switch identity {
    case .new:
      try report(.examining(Placement(number, tag)))
      return true
    case .recognized:
      try report(.log(.notice, Self.recognizedLine))
      try report(.log(.debug, "the known tag \(tag.digits) is ignored"))
    case .known:
      try report(
        .log(.debug, "the tag \(tag.digits) is ignored: it came while the reader did not scan, or was reported again"))
    case .unwanted: try report(.log(.debug, "the tag \(tag.digits) is ignored: \(tag.type) is not configured"))
    }
    return false
  }

  private func read(
    _ tag: TagActivation, _ link: CardLink<CardHandle>, _ handle: CardHandle, until end: SuspendingClock.Instant
  ) throws(Setback) -> (Reading, TagActivation) {
    if let malformed = Reading(improper: tag) { return (malformed, tag) }
    var channel = TimedChannel(CardChannel(link, tag: tag), until: end)
    let result = try asking(handle, { () throws(TagChannelError) in try tag.readNDEF(over: &channel) })
    let latest = try confirm(channel.channel, handle)
    switch result {
    case .success(let content): return (Reading(content), latest)
    case .failure(let error): return (Reading(failure: error), latest)
    }
  }

  /// Identifies the card again if pcscd has reported another one since the tag's own commands have reset it. Without
  /// this, the card would be announced a second time.
  private func confirm(
    _ channel: CardChannel<CardHandle>, _ handle: CardHandle
  ) throws(Setback) -> TagActivation {
    var channel = channel
    guard slot.hasReturned else { return channel.tag }
    switch try asking(handle, { () throws(TagChannelError) in try channel.isSameTag() }) {
    case .success(let isSame): guard slot.verify(isSame) else { throw .replaced }
    case .failure(let error): throw .failed(error.reason)
    }
    return channel.tag
  }

  /// The tag's own error is a result. Throws if the connection has failed.
  func asking<Value>(
    _ handle: CardHandle, _ body: () throws(TagChannelError) -> Value
  ) throws(Setback) -> Result<Value, TagChannelError> {
    do throws(TagChannelError) {
      return .success(try body())
    } catch {
      if let failure = handle.failure { throw Setback(failure) }
      return .failure(error)
    }
  }

  func withLink<Value>(_ body: () throws(Interruption) -> Value) throws(Setback) -> Value {
    do throws(Interruption) { return try body() } catch { throw .interrupted }
  }
}

extension CardKind {
  /// The type of tag that is nearest to a card that cannot be identified.
  fileprivate var nearestType: TagType {
    switch self {
    case .isoDEPTypeA: .type4A
    case .isoDEPTypeB: .type4B
    case .storage, .contact, .placeholder, .unknown: .type2
    }
  }
}
