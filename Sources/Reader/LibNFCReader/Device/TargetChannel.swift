import PN53x
import ReaderKit
import Tags

/// The channel to the selected tag through the chip.
struct TargetChannel: TagChannel {
  let device: NFCDevice
  /// The selected tag, with its latest activation.
  private(set) var tag: TagActivation
  /// The number of exchanges so far.
  private(set) var exchanges: UInt64 = 0
  /// Why the device cannot be used any more, if that ended an exchange.
  private(set) var failure: NFCDevice.Failure?

  private let doubtsRepetitions: Bool
  private let beforeEach: () throws(TagChannelError) -> Void
  /// The previous exchange.
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
      do throws(NFCDevice.Failure) {
        try device.fallInStep()
      } catch {
        failure = error
        throw TagChannelError(.readerGone, error.reason)
      }
      answer = try exchangeOnce(command)
    }
    last = (command, answer)
    return answer
  }

  private mutating func exchangeOnce(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    try beforeEach()
    exchanges += 1
    let answer: NFCDevice.Answer
    do throws(NFCDevice.Failure) {
      answer = try tag.framing.exchange(command, with: device)
    } catch {
      failure = error
      throw TagChannelError(.readerGone, error.reason)
    }
    switch answer {
    case .bytes(let bytes): return bytes
    case .silence, .wrongKey: throw TagChannelError(.noAnswer, "the tag does not answer")
    case .refused(let number):
      throw TagChannelError(.transmission, "the tag gave no valid answer (libnfc error \(number))")
    }
  }

  mutating func reselect() throws(TagChannelError) {
    try beforeEach()
    last = nil
    let found: TagActivation?
    do throws(NFCDevice.Failure) {
      found = try device.selectAnew(tag)
    } catch {
      failure = error
      throw TagChannelError(.readerGone, error.reason)
    }
    guard let found else { throw TagChannelError(.noAnswer, "the tag was removed") }
    tag = found
  }
}
