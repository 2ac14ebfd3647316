import Tags

/// The way to the selected tag through the chip.
struct TargetChannel: TagChannel {
  let device: Device
  /// The tag that is selected.
  let tag: TagActivation
  /// Exchanges so far.
  private(set) var exchanges: UInt64 = 0
  /// Why the device cannot be used any more, where that ended an exchange.
  private(set) var failure: Device.Failure?

  private let beforeEach: () throws(TagChannelError) -> Void

  /// - Parameters:
  ///   - device: the chip.
  ///   - tag: the tag that is selected.
  ///   - beforeEach: called before each exchange; what it throws ends the exchange before it begins.
  init(_ device: Device, _ tag: TagActivation, beforeEach: @escaping () throws(TagChannelError) -> Void = {}) {
    self.device = device
    self.tag = tag
    self.beforeEach = beforeEach
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
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
    let found: TagActivation?
    do throws(Device.Failure) {
      try device.release()
      found = try device.select(tag.modulation)
    } catch {
      failure = error
      throw TagChannelError(.readerGone, error.reason)
    }
    guard let found, found.isSamePlacement(as: tag) else {
      throw TagChannelError(.noAnswer, "the tag is away")
    }
  }
}
