import Bus
import Names

/// One tag read that is announced to a user.
struct DetectedTap: Hashable, Sendable {
  /// A UUID (RFC 9562, version 4). An agent uses it to recognize a tap that is sent again.
  let id: String
  /// The session that was active on the reader's seat.
  let session: SessionKey
  /// The whole NDEF message; empty if the tag has none. Of a damaged tag, the bytes that are no message.
  let message: [UInt8]
  /// Why the contents are damaged; nil if they are not.
  var damage: String?
  let technology: TagType
  /// The tag's identifier, 0 to 10 bytes.
  let uid: [UInt8]
  let reader: ObjectPath
  /// When it was read, in microseconds since 1970-01-01 00:00 UTC.
  let time: UInt64

  /// The argument of `TagRead`.
  var argument: Value {
    var values: [String: Value] = [
      "id": .string(id), "message": .bytes(message), "technology": .string(technology.rawValue), "uid": .bytes(uid),
      "reader": .objectPath(reader), "time": .uint64(time),
    ]
    values["damage"] = damage.map(Value.string)
    return .dictionary(values)
  }

  /// The description in the log. It does not contain the message or the UID.
  var summary: String {
    "tap \(id) (\(technology), \(message.isEmpty ? "no message" : "message of \(message.count) bytes"))"
  }

  /// A random UUID.
  static func makeID(_ random: (UInt64, UInt64) = (.random(in: .min ... .max), .random(in: .min ... .max))) -> String {
    // The version in the seventh byte, the variant in the ninth (RFC 9562, section 5.4).
    let high = random.0 & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    let low = random.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    let digits = hexadecimal(high) + hexadecimal(low)
    var id = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { id.append("-") }
      id.append(digit)
    }
    return id
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
