/// How long things take on the simulated line and in the simulated field.
///
/// `realistic` is made of what the standards say of a frame, and of what the PN532's firmware adds. The first part:
///
/// | What | Takes | Source |
/// |---|---|---|
/// | a byte on the line | 10 bits at the line's rate: 86.8 µs at 115,200 baud | UM0701-02, 6.2.2 |
/// | Type A | 9.44 µs a bit; start and end, 9 bits a byte with parity; 91 µs to the answer | ISO/IEC 14443-3, 6.2 |
/// | Type B | 9.44 µs a bit; SOF 12, EOF 10, 10 bits a byte; TR0 and TR1 before an answer | ISO/IEC 14443-3, 7.1 |
/// | FeliCa | 4.72 or 2.36 µs a bit; preamble 48 bits, sync code 16, 8 bits a byte | JIS X 6319-4 |
/// | an answer to FeliCa's polling | not before 2.417 ms, in one of the time slots of 1.208 ms | JIS X 6319-4 |
/// | Topaz | Type A's bits; a command's bytes are frames of their own, without parity | Type 1 Tag specification |
/// | from field off until a tag has lost its power | 5 ms: the worst that is allowed | NFC Forum Activity, t FIELD_OFF |
/// | from field on until a tag listens | Type A and B 5 ms, FeliCa 20 ms: the worst that is allowed | NFC Forum Digital Protocol, guard times |
///
/// The second part is not documented. Published logs have an activation of a Type A tag with 21 ms and the read of four
/// pages with 5 ms, at 115,200 baud; `activation` is what the parts above leave of the former, and nothing is left of
/// the latter. That the firmware waits 5 ms after it switches the field on (as Type A and B need it, and not as long as
/// FeliCa may: other drivers wait before they poll), and 5 ms for an answer to a request, is assumed.
public struct TimingModel: Sendable, Hashable {
  /// One byte on the line at 115,200 baud, with which the chip starts.
  let lineByte: Duration
  /// One carrier cycle: the unit of everything on the air; 13.56 MHz.
  let carrierCycle: Duration
  /// What the firmware waits from the field's coming on to its first frame.
  let guardTime: Duration
  /// How long a FeliCa tag may take from the field's coming on until it listens; the others take `guardTime`.
  let startUpFeliCa: Duration
  /// How long a tag may keep its power from the field's going off: the worst that is allowed (NFC Forum Activity, t FIELD_OFF).
  private(set) var keptPower: Duration
  /// The firmware's own part of an activation.
  let activation: Duration
  /// The firmware's wait for the answer to a request that nothing answers.
  let fruitlessRequest: Duration
  /// The unit of the timeouts that RFConfiguration sets.
  let timeoutUnit: Duration
  /// Whether InAutoPoll goes from type to type at its period, and not over all of them at once.
  let hasPollingSlots: Bool

  /// Every answer at once.
  public static let immediate = TimingModel(
    lineByte: .zero, carrierCycle: .zero, guardTime: .zero, startUpFeliCa: .zero, keptPower: .zero, activation: .zero,
    fruitlessRequest: .zero, timeoutUnit: .zero, hasPollingSlots: false)

  /// A PN532 on a line of 115,200 baud.
  ///
  /// | Command, the field on | Takes |
  /// |---|---|
  /// | RFConfiguration, of the field | 2.3 ms |
  /// | InListPassiveTarget, Type A, nothing there, one try | 7.5 ms; each further try 5.2 |
  /// | the same, Type B | 8.8 ms; 6.4 |
  /// | the same, FeliCa 212 or 424, one time slot | 12.0 or 11.7 ms; 9.2 or 8.9 |
  /// | the same, Topaz | 7.5 ms; 5.2 |
  /// | InListPassiveTarget, Type A, UID of 4 or 7 bytes | 18.9 or 21.0 ms |
  /// | InDataExchange, READ of 16 bytes | 5.8 ms |
  ///
  /// With the field off each InListPassiveTarget takes 5 ms more.
  public static let realistic = TimingModel(
    lineByte: .nanoseconds(86_806), carrierCycle: .nanoseconds(73.746), guardTime: .milliseconds(5),
    startUpFeliCa: .milliseconds(20), keptPower: .milliseconds(5), activation: .microseconds(13_600),
    fruitlessRequest: .milliseconds(5), timeoutUnit: .microseconds(100), hasPollingSlots: true)

  /// The same with tags that keep their power for a moment, as they do on a real reader.
  public var keepingPower: TimingModel {
    var timing = self
    timing.keptPower = Self.realistic.keptPower
    return timing
  }

  /// - Parameter code: as in RFConfiguration's item 2: 0 for none, else 100 µs times two to the power of one less.
  /// - Returns: how long the chip waits for an answer.
  func timeout(code: UInt8) -> Duration {
    code == 0 ? .zero : timeoutUnit * (1 << (Int(min(code, 16)) - 1))
  }

  /// What a tag may need from the field's coming on until it listens.
  func startUp(_ modulation: RadioModulation) -> Duration {
    switch modulation {
    case .felica212, .felica424: startUpFeliCa
    case .typeA, .typeB, .jewel: guardTime
    }
  }
}

extension TimingModel {
  /// Who sends a frame.
  enum Sender {
    case reader
    case tag
  }

  /// How long a frame is on the air.
  func radioTime(_ frame: RadioFrame, from sender: Sender) -> Duration {
    let count = frame.bytes.count
    let elementaryTimeUnit = carrierCycle * 128
    switch frame.modulation {
    case .typeA:
      let bits = frame.lastBits == 0 ? count * 9 : max(count - 1, 0) * 9 + frame.lastBits
      return elementaryTimeUnit * (sender == .reader ? bits + 2 : bits + 1)
    case .typeB: return elementaryTimeUnit * (12 + count * 10 + 10)
    case .felica212: return carrierCycle * 64 * (64 + count * 8)
    case .felica424: return carrierCycle * 32 * (64 + count * 8)
    case .jewel:
      // Seven bits, and then byte by byte, each with start and end.
      return elementaryTimeUnit * (sender == .reader ? 9 + max(count - 1, 0) * 10 : 1 + count * 9)
    }
  }

  /// From the end of the reader's frame to the beginning of its answer.
  func answerDelay(_ frame: RadioFrame, for purpose: RadioInterface.Purpose) -> Duration {
    switch (frame.modulation, purpose) {
    case (.typeA, _), (.jewel, _): carrierCycle * 1236
    // TR0, 64 subcarrier cycles, and TR1, 80 of them.
    case (.typeB, _): carrierCycle * 16 * 144
    case (.felica212, .activation), (.felica424, .activation): carrierCycle * 512 * 64
    case (.felica212, .exchange), (.felica424, .exchange): carrierCycle * 42 * 64
    }
  }

  /// How long the chip waits for an answer to `request`, from when it could begin.
  func wait(for request: RadioFrame) -> Duration {
    switch request.modulation {
    case .typeA, .jewel: fruitlessRequest
    // The frame waiting time of an ATQB.
    case .typeB: fruitlessRequest + carrierCycle * 7680
    case .felica212, .felica424:
      // Length, command, system code, request code, time slots.
      fruitlessRequest + carrierCycle * 256 * 64 * (request.bytes.count > 5 ? Int(request.bytes[5] & 0x0F) + 1 : 1)
    }
  }
}
