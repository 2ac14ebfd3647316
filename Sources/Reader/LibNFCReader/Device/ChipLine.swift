/// The line to a chip: libnfc, or a simulated chip.
protocol ChipLine: AnyObject {
  /// The name of the device.
  var name: String { get }

  /// The time by which the tags' power is measured.
  var now: SuspendingClock.Instant { get }

  /// Lets this time pass.
  func sleep(for duration: Duration)

  /// Sends a command, and waits for its answer of at most `answerRoom` bytes. `time` is the limit for each step of the
  /// driver.
  func transceive(_ command: [UInt8], answerRoom: Int, within time: Duration) -> LineAnswer
}

/// The answer of a chip, after libnfc's examination of its status byte.
enum LineAnswer {
  /// The data after the answer's code, with a status byte if the command has one.
  case bytes([UInt8])
  /// The chip got no valid answer from the tag.
  case silence
  /// The tag does not have that key.
  case wrongKey
  /// The chip did not answer in time.
  case timeout
  /// The device was unplugged, or sends no valid frames.
  case gone
  /// Any other result, with libnfc's number for it.
  case refused(Int32)
}
