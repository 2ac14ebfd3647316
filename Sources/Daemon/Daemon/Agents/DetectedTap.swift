import Bus
import NDEF
import Names

/// A tag read, and the session whose user it is announced to.
struct DetectedTap: Hashable, Sendable {
  /// Its id is a UUID (RFC 9562, version 4). An agent uses it to recognize a tap that is sent again.
  let read: TagRead
  let session: LoginSessionKey

  var id: String { read.id }

  /// The argument of `TagRead`.
  var argument: Value {
    var values: [String: Value] = [
      "id": .string(read.id), "message": .bytes(read.bytes), "technology": .string(read.technology),
      "uid": .bytes(read.uid), "time": .uint64(read.time),
    ]
    values["reader"] = (try? ObjectPath(read.reader)).map(Value.objectPath)
    if !read.damage.isEmpty { values["damage"] = .string(read.damage) }
    return .dictionary(values)
  }

  /// For the log, so it does not contain the message or the UID.
  var summary: String { read.description }

  static func makeID(_ random: (UInt64, UInt64) = (.random(in: .min ... .max), .random(in: .min ... .max))) -> String {
    // The version in the seventh byte, the variant in the ninth (RFC 9562, section 5.4).
    let high = random.0 & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    let low = random.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    let digits = (Hexadecimal.text(high) + Hexadecimal.text(low)).lowercased()
    var id = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { id.append("-") }
      id.append(digit)
    }
    return id
  }
}
