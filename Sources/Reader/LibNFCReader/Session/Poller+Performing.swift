import PN53x
import ReaderKit
import ReaderProtocol
import Tags

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
