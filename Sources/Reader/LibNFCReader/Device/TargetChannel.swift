import PN53x
import ReaderKit
import ReaderProtocol
import Tags

/// The channel to the selected tag through the chip.
struct TargetChannel: TagChannel {
  let device: NFCDevice
  /// With its latest activation.
  private(set) var tag: TagActivation
  private(set) var exchanges: UInt64 = 0
  /// Why the device cannot be used any more, if that ended an exchange.
  private(set) var failure: NFCDevice.Failure?

  private let doubtsRepetitions: Bool
  private let beforeEach: () throws(TagChannelError) -> Void
  private var last: (command: [UInt8], answer: [UInt8])?
  /// The shortest answer that is compared with the previous one. A status word is shorter, and two equal ones in a row
  /// are normal.
  private static let leastData = 3

  /// With `doubtsRepetitions`, repeats a command if its answer has the same data as the previous answer. libnfc matches
  /// answers by the command code. If the reader sends an answer twice (libnfc#666), libnfc takes the second copy as the
  /// answer to the next command of that kind. Not for commands that write.
  ///
  /// If `beforeEach` throws, the exchange does not begin.
  init(
    _ device: NFCDevice, _ tag: TagActivation, doubtsRepetitions: Bool = false,
    beforeEach: @escaping () throws(TagChannelError) -> Void = {}
  ) {
    self.device = device
    self.tag = tag
    self.doubtsRepetitions = doubtsRepetitions
    self.beforeEach = beforeEach
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    var answer = try exchangeOnce(command)
    if doubtsRepetitions, answer.count >= Self.leastData, let last, last.answer == answer, last.command != command {
      try asking { [device] () throws(NFCDevice.Failure) in try device.fallInStep() }
      answer = try exchangeOnce(command)
    }
    last = (command, answer)
    return answer
  }

  private mutating func exchangeOnce(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    try beforeEach()
    exchanges += 1
    return try Self.bytes(
      of: try asking { [device, tag] () throws(NFCDevice.Failure) in try tag.framing.exchange(command, with: device) },
      silence: "the tag does not answer")
  }

  private static func bytes(of answer: NFCDevice.Answer, silence: String) throws(TagChannelError) -> [UInt8] {
    switch answer {
    case .bytes(let bytes): return bytes
    case .silence, .wrongKey: throw TagChannelError(.noAnswer, silence)
    case .refused(let number):
      throw TagChannelError(.transmission, "the tag gave no valid answer (libnfc error \(number))")
    }
  }

  mutating func reselect() throws(TagChannelError) {
    try beforeEach()
    last = nil
    let found = try asking { [device, tag] () throws(NFCDevice.Failure) in try device.selectAnew(tag) }
    guard let found else { throw TagChannelError(.noAnswer, "the tag was removed") }
    tag = found
  }

  /// A failure of the device ends the use of the channel.
  private mutating func asking<Value>(
    _ body: () throws(NFCDevice.Failure) -> Value
  ) throws(TagChannelError) -> Value {
    do throws(NFCDevice.Failure) {
      return try body()
    } catch {
      failure = error
      throw TagChannelError(.readerGone, error.reason)
    }
  }
}

extension TargetChannel: SessionChannel {
  mutating func transceive(_ command: [UInt8], within timeout: Duration) throws(TagChannelError) -> [UInt8] {
    try beforeEach()
    device.tagTimeout = timeout
    defer { device.tagTimeout = nil }
    var obstacle: TagChannelError?
    let answer = try asking { [device, tag, beforeEach] () throws(NFCDevice.Failure) in
      guard !tag.isISODEP else {
        return try device.exchangeLong(command, answerRoom: ReaderLimits.answer) {
          do throws(TagChannelError) { try beforeEach() } catch { obstacle = error }
          return obstacle == nil
        }
      }
      try device.setAnswerTimeout(code: AnswerTimeout.code(atLeast: timeout))
      let answer = try tag.framing.exchange(command, with: device)
      try device.setAnswerTimeout(code: AnswerTimeout.usual)
      return answer
    }
    if let obstacle { throw obstacle }
    return try Self.bytes(of: answer, silence: "the tag did not answer in time")
  }
}

/// The PN53x's codes for how long it waits for a tag's answer (UM0701-02, 7.3.1, item 2). Code n means
/// 100 µs × 2^(n − 1).
enum AnswerTimeout {
  /// 51.2 ms, the chip's default.
  static let usual: UInt8 = 0x0A
  private static let longest: UInt8 = 0x10

  /// For the shortest timeout that is at least `time`, or for the longest timeout, 3.28 s.
  static func code(atLeast time: Duration) -> UInt8 {
    (1..<longest).first { .microseconds(100 << Int64($0 - 1)) >= time } ?? longest
  }
}
