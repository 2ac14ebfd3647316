import Tags

/// The way to the selected tag through the chip.
struct TargetChannel: TagChannel {
  let device: Device
  /// The tag that is selected, as it called itself when it was selected last.
  private(set) var tag: TagActivation
  /// Exchanges so far.
  private(set) var exchanges: UInt64 = 0
  /// Why the device cannot be used any more, where that ended an exchange.
  private(set) var failure: Device.Failure?

  private let doubtsRepetitions: Bool
  private let beforeEach: () throws(TagChannelError) -> Void
  /// The exchange before.
  private var last: (command: [UInt8], answer: [UInt8])?
  /// What a status word takes: two in a row that are the same say nothing.
  private static let leastData = 3

  /// - Parameters:
  ///   - device: the chip.
  ///   - tag: the tag that is selected.
  ///   - doubtsRepetitions: whether data that is the same as the data before is asked for again. libnfc knows answers by the
  ///     code of the command, so that one which the reader gives twice (libnfc#666) passes for the answer to the next command of
  ///     the kind. Not for commands that write.
  ///   - beforeEach: called before each exchange; what it throws ends the exchange before it begins.
  init(
    _ device: Device, _ tag: TagActivation, doubtsRepetitions: Bool = false,
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
      do throws(Device.Failure) {
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
    let answer: Device.Answer
    do throws(Device.Failure) {
      answer = try tag.framing.exchange(command, with: device)
    } catch {
      failure = error
      throw TagChannelError(.readerGone, error.reason)
    }
    switch answer {
    case .bytes(let bytes): return bytes
    case .silence, .wrongKey: throw TagChannelError(.noAnswer, "the tag does not answer")
    case .refused(let number): throw TagChannelError(.transmission, "libnfc error \(number)")
    }
  }

  mutating func reselect() throws(TagChannelError) {
    try beforeEach()
    last = nil
    let found: TagActivation?
    do throws(Device.Failure) {
      found = try device.selectAnew(tag)
    } catch {
      failure = error
      throw TagChannelError(.readerGone, error.reason)
    }
    guard let found else { throw TagChannelError(.noAnswer, "the tag is away") }
    tag = found
  }
}
