public import Foundation

/// A command for a card (ISO/IEC 7816-4, 5.1; iOS 13). It cannot be changed.
open class NFCISO7816APDU: NSObject, NSCopying {
  private let command: APDUFields

  /// The class byte, CLA.
  open var instructionClass: UInt8 { command.instructionClass }
  /// The instruction byte, INS.
  open var instructionCode: UInt8 { command.instructionCode }
  /// The first parameter byte, P1.
  open var p1Parameter: UInt8 { command.p1 }
  /// The second parameter byte, P2.
  open var p2Parameter: UInt8 { command.p2 }
  /// The data; nil if a decoded command has none.
  open private(set) var data: Data?
  /// How many bytes of data are expected at most, Le; -1 for none.
  open var expectedResponseLength: Int { command.expectedLength }

  /// Makes a command.
  ///
  /// The lengths have one byte. They have the extended form if there are more than 255 bytes of data, or if more than
  /// 256 bytes are expected. At most 65,535 bytes of data can be sent, and 65,536 expected. The call of a longer
  /// command fails with code 3.
  ///
  /// - Parameters:
  ///   - instructionClass: the class byte, CLA.
  ///   - instructionCode: the instruction byte, INS.
  ///   - p1Parameter: the first parameter byte, P1.
  ///   - p2Parameter: the second parameter byte, P2.
  ///   - data: the data; empty for none.
  ///   - expectedResponseLength: how many bytes of data are expected at most, 1 to 65,536. 256 sends the byte `00`, and
  ///     65,536 the bytes `0000`. A negative number sends no length, so that no data is expected. 0 sends zeros: the
  ///     card answers as much as it has.
  public init(
    instructionClass: UInt8, instructionCode: UInt8, p1Parameter: UInt8, p2Parameter: UInt8, data: Data,
    expectedResponseLength: Int
  ) {
    command = APDUFields(
      instructionClass: instructionClass, instructionCode: instructionCode, p1: p1Parameter, p2: p2Parameter,
      data: Array(data), expectedLength: expectedResponseLength)
    self.data = data
    super.init()
  }

  /// Decodes a command. It is sent with the same bytes, also if these have an extended form that is not needed.
  ///
  /// - Parameter data: exactly one command. Nil is returned for anything else: fewer than 4 bytes, or a length that
  ///   does not agree with the bytes after it.
  public init?(data: Data) {
    guard let command = APDUFields(decoding: Array(data)) else { return nil }
    self.command = command
    self.data = command.data.isEmpty ? nil : Data(command.data)
    super.init()
  }

  /// The same object, since it cannot be changed.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The bytes for the card; empty if the command cannot be sent.
  var encoded: [UInt8] { command.bytes ?? [] }
}

/// The answer of a card (ISO/IEC 7816-4, 5.1; iOS 14).
public struct NFCISO7816ResponseAPDU: Sendable {
  /// The first status byte, SW1.
  public var statusWord1: UInt8
  /// The second status byte, SW2.
  public var statusWord2: UInt8
  /// The data without the status bytes.
  public var payload: Data?

  /// Makes an answer. The label `paylaod` is spelt as on iOS.
  public init(statusWord1: UInt8, statusWord2: UInt8, paylaod: Data?) {
    self.statusWord1 = statusWord1
    self.statusWord2 = statusWord2
    payload = paylaod
  }
}

/// A command for a card, and its bytes (ISO/IEC 7816-4, 5.1).
///
/// | Case | Data | Answer expected | Short | Extended |
/// |---|---|---|---|---|
/// | 1 | no | no | header | |
/// | 2 | no | yes | header, Le | header, 00, Le of 2 bytes |
/// | 3 | yes | no | header, Lc, data | header, 00, Lc of 2 bytes, data |
/// | 4 | yes | yes | header, Lc, data, Le | header, 00, Lc of 2 bytes, data, Le of 2 bytes |
struct APDUFields: Sendable, Hashable {
  var instructionClass: UInt8
  var instructionCode: UInt8
  var p1: UInt8
  var p2: UInt8
  /// The data; empty for none. Its length is Lc.
  var data: [UInt8] = []
  /// The length of the expected data, Le. Negative: there is no Le. 0: Le is zero, which asks for as much as possible.
  var expectedLength = -1
  /// Whether the lengths have the extended form although both of them fit into the short one.
  var prefersExtended = false

  /// The bytes; nil if the data is longer than 65,535 bytes, or more than 65,536 bytes are expected.
  ///
  /// The form is the short one, unless a length does not fit into it.
  var bytes: [UInt8]? {
    guard data.count <= 0xFFFF, expectedLength <= 0x1_0000 else { return nil }
    let hasLengths = !data.isEmpty || expectedLength >= 0
    let isExtended = hasLengths && (prefersExtended || data.count > 0xFF || expectedLength > 0x100)
    // 256 in one byte, and 65,536 in two, are zero.
    func field(_ length: Int) -> [UInt8] {
      let low = UInt8(truncatingIfNeeded: length)
      return isExtended ? [UInt8(truncatingIfNeeded: length >> 8), low] : [low]
    }
    var bytes = [instructionClass, instructionCode, p1, p2]
    if isExtended { bytes.append(0) }
    if !data.isEmpty { bytes += field(data.count) + data }
    if expectedLength >= 0 { bytes += field(expectedLength) }
    return bytes
  }
}

extension APDUFields {
  /// Decodes a command. `bytes` of the result gives the same bytes again.
  ///
  /// - Parameter bytes: exactly one command. Nil is returned for anything else.
  init?(decoding bytes: [UInt8]) {
    guard bytes.count >= 4 else { return nil }
    self.init(instructionClass: bytes[0], instructionCode: bytes[1], p1: bytes[2], p2: bytes[3])
    let body = bytes[4...]
    guard let first = body.first else { return }
    // 00 before other bytes begins the extended form. 00 alone is a short Le.
    prefersExtended = first == 0 && body.count > 1
    let size = prefersExtended ? 2 : 1
    let fields = prefersExtended ? body.dropFirst() : body
    guard fields.count != size else {
      expectedLength = Self.expectedLength(fields)
      return
    }
    let length = Self.number(fields.prefix(size))
    let rest = fields.dropFirst(size)
    guard length > 0, rest.count >= length else { return nil }
    data = Array(rest.prefix(length))
    let end = rest.dropFirst(length)
    guard !end.isEmpty else { return }
    guard end.count == size else { return nil }
    expectedLength = Self.expectedLength(end)
  }

  /// Zero is the most that a field of this size can ask for: 256 or 65,536.
  private static func expectedLength(_ field: ArraySlice<UInt8>) -> Int {
    let length = number(field)
    return length == 0 ? 1 << (8 * field.count) : length
  }

  private static func number(_ field: ArraySlice<UInt8>) -> Int { field.reduce(0) { $0 << 8 | Int($1) } }
}
