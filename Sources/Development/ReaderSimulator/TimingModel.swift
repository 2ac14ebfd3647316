package import EventLoop

/// The durations on the simulated line and in the simulated field.
///
/// `realistic` combines the durations that the standards define for a frame with those that the PN532's firmware adds.
/// The durations of a frame:
///
/// | What | Takes | Source |
/// |---|---|---|
/// | a byte on the line | 10 bits at the line's rate: 86.8 µs at 115,200 baud | UM0701-02, 6.2.2 |
/// | Type A | 9.44 µs a bit; start and end, 9 bits a byte with parity; 91 µs to the answer | ISO/IEC 14443-3, 6.2 |
/// | Type B | 9.44 µs a bit; SOF 12, EOF 10, 10 bits a byte; TR0 and TR1 before an answer | ISO/IEC 14443-3, 7.1 |
/// | FeliCa | 4.72 or 2.36 µs a bit; preamble 48 bits, sync code 16, 8 bits a byte | JIS X 6319-4 |
/// | an answer to FeliCa's polling | 2.417 ms at least; time slots of 1.208 ms | JIS X 6319-4 |
/// | Topaz | Type A's bits; each byte of a command is a separate frame without parity | Type 1 Tag specification |
///
/// For the field, the model uses the allowed maximum. After field off, a tag loses its power within 5 ms (NFC Forum
/// Activity, t FIELD_OFF). After field on, a tag listens within 5 ms for Type A and B, and within 20 ms for FeliCa (NFC
/// Forum Digital Protocol, guard times).
///
/// The firmware's part is not documented. According to published logs at 115,200 baud, the activation of a Type A tag
/// takes 21 ms and a read of four pages 5 ms. `activation` is the rest of the 21 ms after the durations above; the 5 ms
/// leave no rest. Two durations are assumed: the firmware waits 5 ms after it switches the field on, and 5 ms for an
/// answer to a request. The first is enough for Type A and B, but FeliCa tags may take longer: other drivers wait
/// before they poll.
package struct TimingModel: Sendable, Hashable {
  /// One byte on the line at the chip's initial rate, 115,200 baud.
  let lineByte: Duration
  /// One carrier cycle at 13.56 MHz: the unit of all durations on the air.
  let carrierCycle: Duration
  /// The firmware's wait between field on and its first frame.
  let guardTime: Duration
  /// The longest time from field on until a FeliCa tag listens. Other tags take `guardTime`.
  let startUpFeliCa: Duration
  /// How long a tag keeps its power after field off: the allowed maximum (NFC Forum Activity, t FIELD_OFF).
  private(set) var keptPower: Duration
  /// The firmware's own part of an activation.
  let activation: Duration
  /// How long the firmware waits for the answer to a request if no tag answers.
  let fruitlessRequest: Duration
  /// The unit of the timeouts that RFConfiguration sets.
  let timeoutUnit: Duration
  /// What chip and host take for each command by themselves.
  private(set) var ownTime = Duration.zero
  /// Whether InAutoPoll polls for one type per period, rather than for all types at once.
  let hasPollingSlots: Bool

  /// All answers come at once.
  package static let immediate = TimingModel(
    lineByte: .zero, carrierCycle: .zero, guardTime: .zero, startUpFeliCa: .zero, keptPower: .zero, activation: .zero,
    fruitlessRequest: .zero, timeoutUnit: .zero, hasPollingSlots: false)

  /// A PN532 on a line at 115,200 baud.
  ///
  /// | Command, with the field on | Takes |
  /// |---|---|
  /// | RFConfiguration of the field | 2.3 ms |
  /// | InListPassiveTarget, Type A, no tag, one try | 7.5 ms; each further try 5.2 |
  /// | the same, Type B | 8.8 ms; 6.4 |
  /// | the same, FeliCa 212 or 424, one time slot | 12.0 or 11.7 ms; 9.2 or 8.9 |
  /// | the same, Topaz | 7.5 ms; 5.2 |
  /// | InListPassiveTarget, Type A, UID of 4 or 7 bytes | 18.9 or 21.0 ms |
  /// | InDataExchange, READ of 16 bytes | 5.8 ms |
  ///
  /// With the field off, each InListPassiveTarget takes 5 ms more.
  package static let realistic = TimingModel(
    lineByte: .nanoseconds(86_806), carrierCycle: .nanoseconds(73.746), guardTime: .milliseconds(5),
    startUpFeliCa: .milliseconds(20), keptPower: .milliseconds(5), activation: .microseconds(13_600),
    fruitlessRequest: .milliseconds(5), timeoutUnit: .microseconds(100), hasPollingSlots: true)

  /// The same timing, but tags keep their power for a moment, as on a real reader.
  package var keepingPower: TimingModel {
    var timing = self
    timing.keptPower = Self.realistic.keptPower
    return timing
  }

  /// The same timing, but chip and host take this much time of their own for each command. A published log has 2 to 3 ms
  /// more than line and air take, with Python on a small computer. A look over I2C took 38 ms, 17 more than this model.
  package func taking(_ time: Duration) -> TimingModel {
    var timing = self
    timing.ownTime = time
    return timing
  }

  /// How long the chip waits for an answer. `code` is as in RFConfiguration's item 2: 0 for no timeout, otherwise 100
  /// µs × 2^(`code` − 1).
  func timeout(code: UInt8) -> Duration { code == 0 ? .zero : timeoutUnit * (1 << (Int(min(code, 16)) - 1)) }

  /// The longest time from field on until a tag listens.
  func startUp(_ modulation: RadioModulation) -> Duration {
    switch modulation {
    case .felica212, .felica424: startUpFeliCa
    case .typeA, .typeB, .jewel, .vicinity: guardTime
    }
  }
}

extension TimingModel {
  enum Sender {
    case reader
    case tag
  }

  /// How long a frame is on the air.
  func radioTime(_ frame: RadioFrame, from sender: Sender) -> Duration {
    let count: Int = frame.bytes.count
    let isReader = sender == .reader
    let elementaryTimeUnit: Duration = carrierCycle * 128
    switch frame.modulation {
    case .typeA:
      let bits: Int = frame.lastBits == 0 ? count * 9 : max(count - 1, 0) * 9 + frame.lastBits
      return elementaryTimeUnit * (bits + (isReader ? 2 : 1))
    case .typeB:
      let bits: Int = 12 + count * 10 + 10
      return elementaryTimeUnit * bits
    case .felica212, .felica424:
      let bits: Int = 64 + count * 8
      return carrierCycle * (frame.modulation == .felica212 ? 64 : 32) * bits
    case .jewel:
      // Seven bits, and then byte by byte, each with start and end.
      let bits: Int = isReader ? 9 + max(count - 1, 0) * 10 : 1 + count * 9
      return elementaryTimeUnit * bits
    // Two bits in 75.52 µs from the reader; 37.76 µs a bit from the card; start and end (ISO/IEC 15693-2).
    case .vicinity:
      let bits: Int = count * 8 + (isReader ? 3 : 6)
      return carrierCycle * 512 * bits
    }
  }

  /// The time from the end of the reader's frame to the beginning of the answer.
  func answerDelay(_ frame: RadioFrame, for purpose: RadioInterface.Purpose) -> Duration {
    switch (frame.modulation, purpose) {
    case (.typeA, _), (.jewel, _): carrierCycle * 1236
    // t1 of ISO/IEC 15693-3.
    case (.vicinity, _): carrierCycle * 4352
    // TR0 has 64 subcarrier cycles, TR1 has 80.
    case (.typeB, _): carrierCycle * 16 * 144
    case (.felica212, .activation), (.felica424, .activation): carrierCycle * 512 * 64
    case (.felica212, .exchange), (.felica424, .exchange): carrierCycle * 42 * 64
    }
  }

  /// How long the chip waits for an answer to `request`, from the moment when an answer could begin.
  func wait(for request: RadioFrame) -> Duration {
    switch request.modulation {
    case .typeA, .jewel, .vicinity: fruitlessRequest
    // The frame waiting time of an ATQB.
    case .typeB: fruitlessRequest + carrierCycle * 7680
    case .felica212, .felica424:
      // Length, command, system code, request code, time slots.
      fruitlessRequest + carrierCycle * 256 * 64 * (request.bytes.count > 5 ? Int(request.bytes[5] & 0x0F) + 1 : 1)
    }
  }
}

/// The clock of a simulated reader: a test's own, or the machine's.
package protocol SimulatorClock: Sendable {
  /// The time since a fixed moment. Never goes back.
  var now: Duration { get }

  /// Runs `body` once on the loop, after this delay from now.
  func schedule(after delay: Duration, on loop: EventLoop, _ body: @escaping @Sendable () -> Void)
}

/// The machine's monotonic clock.
package struct MachineClock: SimulatorClock {
  private let start = ContinuousClock.now

  /// A clock that starts at zero.
  package init() {}

  package var now: Duration { ContinuousClock.now - start }

  /// The modelled line takes 87 µs per byte, and the loop's timers are as exact.
  package func schedule(after delay: Duration, on loop: EventLoop, _ body: @escaping @Sendable () -> Void) {
    loop.schedule(after: delay, body)
  }
}
