import ReaderLink
import Tags

/// The way to the selected tag through the chip, given up where the daemon wants something else.
struct TargetChannel: TagChannel {
  let device: Device
  let daemon: DaemonConnection
  /// The tag that is selected.
  let tag: TagActivation
  /// Exchanges so far.
  private(set) var exchanges: UInt64 = 0
  /// Why the device cannot be used any more, where that ended an exchange.
  private(set) var failure: Device.Failure?

  init(_ device: Device, _ daemon: DaemonConnection, _ tag: TagActivation) {
    self.device = device
    self.daemon = daemon
    self.tag = tag
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    try checkInterruption()
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
    case .refused(Device.transmissionError): throw TagChannelError(.noAnswer, "the tag does not answer")
    case .refused(let number): throw TagChannelError(.transmission, "libnfc error \(number)")
    }
  }

  mutating func reselect() throws(TagChannelError) {
    try checkInterruption()
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

  private func checkInterruption() throws(TagChannelError) {
    let isInterrupted: Bool
    do throws(ReaderLinkError) {
      try daemon.beat()
      isInterrupted = try daemon.isInterrupted()
    } catch {
      throw TagChannelError(.aborted, "the daemon is gone")
    }
    guard !isInterrupted else { throw TagChannelError(.aborted, "the daemon wants something else") }
  }
}
