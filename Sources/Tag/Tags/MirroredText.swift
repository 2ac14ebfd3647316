/// Characters that a tag returns in the place of those it holds: its UID, a counter or a code, as hexadecimal digits.
/// On an NTAG213 this is the ASCII mirror (NTAG213_215_216 3.2, section 8.7), on an NTAG 424 DNA secure dynamic
/// messaging (NT4H2421Gx 3.0, section 9.3). The settings of the tag may be unknown.
struct MirroredText {
  /// Two readings of the message.
  private let readings: [[UInt8]]
  /// The indices at which one of them differs from the message.
  private let indices: [Int]

  /// Nil if the difference is another one: of the length, or of bytes that no tag puts there.
  init?(of readings: [[UInt8]], insteadOf message: [UInt8]) {
    guard readings.allSatisfy({ $0.count == message.count }) else { return nil }
    self.readings = readings
    indices = message.indices.filter { index in readings.contains { $0[index] != message[index] } }
    guard readings.allSatisfy({ reading in indices.allSatisfy { Self.isMirrored(reading[$0]) } }) else { return nil }
  }

  /// The digits, and the character between UID and counter.
  private static func isMirrored(_ byte: UInt8) -> Bool { "0123456789ABCDEFx".utf8.contains(byte) }

  /// Whether the tag itself has certainly put the characters there: they change from one reading to the next, or they
  /// are its UID, maybe with a counter.
  func isPlaced(by uid: [UInt8]) -> Bool {
    guard let reading = readings.first, readings.allSatisfy({ $0 == reading }) else { return true }
    let text = uid.flatMap { byte in
      [byte >> 4, byte & 0x0F].map { $0 + ($0 < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10) }
    }
    guard !text.isEmpty, let start = reading.firstRange(of: text)?.lowerBound else { return false }
    let counter = reading[start...].dropFirst(text.count).first == UInt8(ascii: "x") ? 1 + 6 : 0
    return indices.allSatisfy { (start..<start + text.count + counter).contains($0) }
  }
}
