/// How long things take on the simulated line and in the simulated field.
public struct TimingModel: Sendable, Hashable {
  /// One byte on the line.
  let lineByte: Duration
  /// One byte on the air.
  let radioByte: Duration
  /// From the end of a frame to the beginning of its answer.
  let frameDelay: Duration
  /// From the field's coming on to the first frame (ISO/IEC 14443-3, 5.2).
  let guardTime: Duration
  /// The firmware's own part of an activation.
  let activation: Duration
  /// A request that nothing answers.
  let fruitlessRequest: Duration
  /// The unit of the timeouts that RFConfiguration sets.
  let timeoutUnit: Duration

  /// Every answer at once.
  public static let immediate = TimingModel(
    lineByte: .zero, radioByte: .zero, frameDelay: .zero, guardTime: .zero, activation: .zero, fruitlessRequest: .zero,
    timeoutUnit: .zero)

  /// A PN532 on a line of 115,200 baud: ten bits a byte there, nine bits of 9.44 µs a byte on the air. With the
  /// firmware's part set as it is, activating a tag with a UID of seven bytes takes 21 ms, as published logs have it.
  public static let realistic = TimingModel(
    lineByte: .nanoseconds(86_806), radioByte: .nanoseconds(84_960), frameDelay: .microseconds(91),
    guardTime: .milliseconds(5), activation: .microseconds(13_700), fruitlessRequest: .milliseconds(5),
    timeoutUnit: .microseconds(100))

  func lineTime(bytes: Int) -> Duration { lineByte * bytes }

  func radioTime(_ frame: RadioFrame) -> Duration { radioByte * frame.bytes.count }

  /// - Parameter code: as in RFConfiguration's item 2: 0 for none, else 100 µs times two to the power of one less.
  /// - Returns: how long the chip waits for an answer.
  func timeout(code: UInt8) -> Duration {
    code == 0 ? .zero : timeoutUnit * (1 << (Int(min(code, 16)) - 1))
  }
}
