import ReaderLink
import Tags

/// Doing with a tag of a session what the daemon says.
extension Poller {
  /// How often a tag is read whose message makes no sense: a frame may have been lost.
  private static let attempts = 3

  /// What has come of an operation.
  private enum Outcome {
    case result(ReaderOperationResult)
    /// The tag does not answer.
    case silence(TagChannelError)
    /// The session is over: the daemon needs no answer.
    case over
  }

  func perform(_ request: DaemonConnection.Request, _ device: Device) throws(Interruption) {
    func answer(_ result: ReaderOperationResult) throws(Interruption) {
      try report(.performed(request: request.number, result))
    }
    let number = request.placement
    guard session?.reported[number] != nil, let tag = tracker.resting.first(where: { $0.number == number })?.tag else {
      return try answer(.failed(.tagLost, reason: "the tag is away"))
    }
    if let refusal = request.operation.refusal(for: tag) { return try answer(refusal) }
    guard let tag = try select(tag, number, device) else {
      try answer(.failed(.tagLost, reason: "the tag is away"))
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
      // It may have refused, or be away: which of them it is decides what becomes of its stay.
      guard try selectAnew(tag, number, device) else {
        try answer(.failed(.tagLost, reason: "the tag was taken away"))
        return try lost(number)
      }
      try answer(.failed(.timeout, reason: error.reason))
    case .over: break
    }
  }

  // MARK: Selecting

  /// - Returns: the tag as it is selected; nil where it is away.
  private func select(
    _ tag: TagActivation, _ number: UInt64, _ device: Device
  ) throws(Interruption) -> TagActivation? {
    if let selected, selected.isSameTag(as: tag), session?.isOutOfStep == false { return selected }
    session?.isOutOfStep = false
    try selectAgain(tag, device)
    if let selected, selected.isSameTag(as: tag) { return selected }
    return try selectAnew(tag, number, device) ? selected : nil
  }

  /// Takes the tag's power and selects it again.
  private func selectAnew(
    _ tag: TagActivation, _ number: UInt64, _ device: Device
  ) throws(Interruption) -> Bool {
    selected = nil
    mayListen = true
    let again = try asking(device) { (device) throws(Device.Failure) in try device.selectAnew(tag) }
    session?.isOutOfStep = false
    guard let again else { return false }
    selected = again
    tracker.reselected(number, again)
    return true
  }

  // MARK: NDEF

  private func operate(
    _ request: DaemonConnection.Request, _ tag: TagActivation, _ device: Device
  ) throws(Interruption) -> Outcome {
    let isReading = request.operation == .read || request.operation == .query
    let target = TargetChannel(device, tag, doubtsRepetitions: isReading, beforeEach: checkSession)
    let timed = TimedChannel(target, until: .now + ReaderTiming.operation)
    // What cannot be said is found out at the next exchange.
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
      var before: Reading?
      for _ in 1..<Self.attempts {
        let content = try channel.channel.channel.tag.readNDEF(over: &channel)
        let reading = Reading(content)
        if !reading.isDoubtful(after: before) { return .result(ReaderOperationResult(content)) }
        before = reading
        try channel.reselect()
      }
      return .result(ReaderOperationResult(try channel.channel.channel.tag.readNDEF(over: &channel)))
    } catch {
      if let failure = channel.channel.channel.failure { throw .deviceLost(failure) }
      return error.code == .aborted ? .over : .silence(error)
    }
  }

  // MARK: Commands as they are

  private func transceive(
    _ command: [UInt8], _ timeout: Duration, _ tag: TagActivation, _ number: UInt64, _ device: Device
  ) throws(Interruption) -> Outcome {
    if session?.applicationIsDue == true {
      session?.applicationIsDue = false
      if let application = session?.application(of: number) {
        guard let answer = try exchange(TagSession.select(application), with: tag, device) else {
          return .silence(TagChannelError(.noAnswer, "the card does not answer"))
        }
        guard answer.suffix(2) == [0x90, 0x00] else {
          return .result(.failed(.refused, reason: "the card does not select its application any more"))
        }
      }
    }
    device.tagTimeout = timeout
    // Each of the steps of libnfc's drivers may wait that long, and the longest APDUs take seconds on a slow line.
    let isLong = tag.isISODEP && command.count >= 7 && command[4] == 0
    daemon.allow(timeout * 4 + (isLong ? .seconds(12) : .seconds(1)))
    defer {
      device.tagTimeout = nil
      daemon.allow(.zero)
    }
    let answer: Device.Answer
    if tag.isISODEP {
      var isOver = false
      answer = try asking(device) { (device) throws(Device.Failure) in
        try device.exchangeLong(command, answerRoom: ReaderLimits.answer) {
          isOver = (try? checkSession()) == nil
          return !isOver
        }
      }
      if isOver { return .over }
    } else {
      if (try? checkSession()) == nil { return .over }
      answer = try asking(device) { (device) throws(Device.Failure) in
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

/// The codes that a PN53x has for how long it waits for a tag's answer (UM0701-02, 7.3.1, item 2): 100 µs times two to the power of
/// one less than the code.
enum AnswerTimeout {
  /// 51.2 ms, with which the chip starts.
  static let usual: UInt8 = 0x0A
  private static let longest: UInt8 = 0x10

  /// - Returns: the shortest that is as long, or the longest there is, 3.28 s.
  static func code(atLeast time: Duration) -> UInt8 {
    (1..<longest).first { .microseconds(100 << Int64($0 - 1)) >= time } ?? longest
  }
}
