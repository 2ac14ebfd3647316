import ReaderModels
import Tags

/// The transparent session of PC/SC part 3's supplement: raw frames to the tag, for readers that can do that.
///
/// Published programs use it on an ACR1552U with tags of Type 2 and Type 5. The ACM1252U-Y3's manual (5.2.3) has it for
/// the family of the ACR1252U. It is untested here. While a session is open, the reader does not look for cards, so it
/// does not notice a removal.
enum TransparentSession: Hashable {
  /// Can transition to: `.open`, `.refused`.
  case closed
  /// The reader speaks this protocol. Can transition to: `.open` with another protocol, `.closed`.
  case open(Technology?)
  /// The reader refuses to open a session.
  case refused

  /// The protocols that the reader can be switched to.
  enum Technology: Hashable {
    case typeA
    case feliCa
    case iso15693

    /// SWITCH PROTOCOL: the standard, and the layer up to which the reader activates the tag.
    var parameters: [UInt8] {
      switch self {
      case .typeA: [0x00, 0x03]
      case .iso15693: [0x02, 0x03]
      case .feliCa: [0x03, 0x00]
      }
    }

    /// Flags for the transmission: 01 without CRC, 02 do not check the CRC, 04 and 08 without parity, 10 without the
    /// prologue of ISO-DEP. Sony's readers require the last three for FeliCa.
    var flags: UInt8 { self == .feliCa ? 0x1C : 0x10 }
  }

  private static func manage(_ tag: UInt8) -> PseudoAPDU { PseudoAPDU(0xC2, data: [tag, 0x00]) }

  static let start = manage(0x81)
  static let end = manage(0x82)
  static let turnFieldOn = manage(0x84)

  /// Send it before a connection ends, else the reader looks for no card.
  static var endCommand: [UInt8] { end.bytes }

  /// After this command to the reader; nil if the command does not change that.
  static func isOpen(after command: [UInt8]) -> Bool? {
    command == start.bytes ? true : command == end.bytes ? false : nil
  }

  static func switchProtocol(_ technology: Technology) -> PseudoAPDU {
    PseudoAPDU(0xC2, 0x00, 0x02, data: [0x8F, 0x02] + technology.parameters)
  }

  /// Of a frame. With the other objects, it fits into a short APDU.
  static let mostBytes = 240
  private static let withoutCheck: UInt8 = 0x02

  /// TRANSCEIVE with flags and a timer in microseconds, low byte first. Without the timer, some readers wait only 302
  /// µs (ACM1252U-Y3 manual, 5.2.3.3.6).
  static func transceive(
    _ frame: [UInt8], _ technology: Technology, checksAnswer: Bool, within microseconds: UInt32
  ) -> PseudoAPDU {
    let flags: [UInt8] = [0x90, 0x02, 0x00, technology.flags | (checksAnswer ? 0 : withoutCheck)]
    let timer = (0..<4).map { UInt8(truncatingIfNeeded: microseconds >> (8 * UInt32($0))) }
    let length = UInt8(truncatingIfNeeded: frame.count)
    let header: [UInt8] = frame.count < 0x80 ? [0x95, length] : [0x95, 0x81, length]
    return PseudoAPDU(0xC2, 0x00, 0x01, data: flags + [0x5F, 0x46, 0x04] + timer + header + frame, expected: 0)
  }
}

extension CardLink {
  /// Opens a session before the first frame. The reader adds the CRC and removes it from the answer, unless
  /// `checksAnswer` is false.
  ///
  /// An answer of four bits is the byte 0A if it is an acknowledgement. Any other is treated as no answer.
  mutating func transceive(
    _ frame: [UInt8], _ technology: TransparentSession.Technology, checksAnswer: Bool = true,
    within microseconds: UInt32
  ) throws(TagChannelError) -> [UInt8] {
    guard frame.count <= TransparentSession.mostBytes else {
      throw TagChannelError(.unsupported, "the command is too long for this reader")
    }
    try open(technology)
    let found = try objects(
      in: try ask(
        TransparentSession.transceive(frame, technology, checksAnswer: checksAnswer, within: microseconds)))
    guard let response = found[DataObjects.Tag.response] else {
      throw TagChannelError(.noAnswer, "the tag does not answer")
    }
    if technology == .typeA, response.count == 1, found[DataObjects.Tag.bitFraming]?.first == 4 || !checksAnswer {
      guard response[0] & 0x0F == 0x0A else { throw TagChannelError(.noAnswer, "the tag refuses the command") }
      return [0x0A]
    }
    if checksAnswer, let status = found[DataObjects.Tag.responseStatus]?.first, status & 0x0F != 0 {
      throw TagChannelError(.transmission, "the tag's answer is damaged")
    }
    return response
  }

  private mutating func open(_ technology: TransparentSession.Technology) throws(TagChannelError) {
    if transparentSession == .refused { throw Self.noRawCommands }
    if transparentSession == .closed {
      let answer = try ask(TransparentSession.start)
      if model.hasOneFailureWord, answer.status == .anyFailure { throw answer.status.error }
      guard answer.status.isSuccess else {
        transparentSession = .refused
        throw Self.noRawCommands
      }
      transparentSession = .open(nil)
    }
    guard transparentSession != .open(technology) else { return }
    do throws(TagChannelError) {
      _ = try objects(in: try ask(TransparentSession.switchProtocol(technology)))
    } catch {
      // Some readers switch the field off when a session begins.
      guard failure == nil, error.code == .noAnswer else { throw error }
      _ = try ask(TransparentSession.turnFieldOn)
      _ = try objects(in: try ask(TransparentSession.switchProtocol(technology)))
    }
    transparentSession = .open(technology)
  }

  private static var noRawCommands: TagChannelError {
    TagChannelError(.unsupported, "this reader does not pass on raw commands")
  }

  /// Fails with the error that an object reports.
  private func objects(in answer: CardAnswer) throws(TagChannelError) -> DataObjects {
    guard answer.status.isSuccess else { throw answer.status.error }
    guard let objects = DataObjects(answer.data) else {
      throw TagChannelError(.transmission, "the reader's answer is cut off")
    }
    guard let error = objects[DataObjects.Tag.errorStatus] else { return objects }
    guard error.count == 3 else { throw TagChannelError(.transmission, "the reader's answer has no valid status") }
    let status = StatusWord(error[1], error[2])
    if status.isSuccess || status == .endOfData { return objects }
    throw switch status {
    case StatusWord(0x6A, 0x81):
      TagChannelError(.unsupported, "this reader does not support this command (status \(status))")
    // An RC-S300 only passes on some commands of FeliCa cards.
    case StatusWord(0x6A, 0x80):
      TagChannelError(.unsupported, "this reader does not pass this command on to the tag (status \(status))")
    default: status.error
    }
  }
}

/// The data objects in an answer to a command of PC/SC part 3's supplement, 2.3: tag, length and value in BER.
struct DataObjects {
  /// Tags in the answer to a transparent exchange.
  enum Tag {
    /// The number of the data object that failed, and a status word.
    static let errorStatus: UInt16 = 0xC0
    /// The number of valid bits in the last byte; 0 for all.
    static let bitFraming: UInt16 = 0x92
    /// The first byte has error flags.
    static let responseStatus: UInt16 = 0x96
    static let response: UInt16 = 0x97
  }

  private var values: [UInt16: [UInt8]] = [:]

  /// Nil if an object is cut off. Of two objects with one tag, the first is used.
  init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while let first = rest.popFirst() {
      var tag = UInt16(first)
      if first & 0x1F == 0x1F {
        guard let second = rest.popFirst() else { return nil }
        tag = tag << 8 | UInt16(second)
      }
      guard let length = Self.length(&rest), rest.count >= length else { return nil }
      if values[tag] == nil { values[tag] = Array(rest.prefix(length)) }
      rest = rest.dropFirst(length)
    }
  }

  subscript(tag: UInt16) -> [UInt8]? { values[tag] }

  /// One byte, or 81 and one byte, or 82 and two.
  private static func length(_ rest: inout ArraySlice<UInt8>) -> Int? {
    guard let first = rest.popFirst() else { return nil }
    if first < 0x80 { return Int(first) }
    guard first == 0x81 || first == 0x82 else { return nil }
    var length = 0
    for _ in 0..<Int(first & 0x0F) {
      guard let byte = rest.popFirst() else { return nil }
      length = length << 8 | Int(byte)
    }
    return length
  }
}
