import Bus
import Names
import TagrouteClient

/// The reply of a Type 2 tag to GET_VERSION (NXP MF0ULx1, NTAG213_215_216 and NT3H2111_2211, section GET_VERSION).
struct ChipVersion: Equatable {
  /// Eight bytes: a fixed one, vendor, product, subtype, major and minor version, storage size, protocol.
  let answer: [UInt8]

  /// Nil if it is not such a reply.
  init?(_ answer: [UInt8]) {
    guard answer.count == 8 else { return nil }
    self.answer = answer
  }

  /// Asks a tag. This must be the last command: a tag that does not know it stops replying. Nil if it is another kind
  /// of tag, or does not know the command.
  static func of(_ tag: ReaderTag) async -> ChipVersion? {
    guard TagType(rawValue: tag.technology) == .type2 else { return nil }
    do throws(BusError) {
      return ChipVersion(try await tag.transceive([0x60]))
    } catch {
      return nil
    }
  }

  /// The name of the chip; nil if it is unknown.
  var name: String? {
    guard answer[1] == 0x04 else { return nil }
    switch (answer[2], answer[3], answer[4], answer[5], answer[6]) {
    case (0x03, 0x01...0x02, 2, _, 0x0B): return "MIFARE Ultralight Nano"
    case (0x03, 0x01...0x02, _, _, 0x0B): return "MIFARE Ultralight EV1, 48 bytes"
    case (0x03, 0x01...0x02, _, _, 0x0E): return "MIFARE Ultralight EV1, 128 bytes"
    case (0x04, 0x01...0x02, 2, _, 0x0B): return "NTAG210µ"
    case (0x04, 0x01...0x02, _, _, 0x0B): return "NTAG210"
    case (0x04, 0x01...0x02, _, _, 0x0E): return "NTAG212"
    // The major version tells a chip with AES from one without.
    case (0x03, 0x01...0x03, 4, _, 0x0F): return "MIFARE Ultralight AES"
    case (0x04, _, 4, _, 0x0F): return "NTAG 223 DNA"
    case (0x04, _, 5, _, 0x10): return "NTAG 224 DNA"
    case (0x04, 0x01...0x02, _, _, 0x0F): return "NTAG213"
    case (0x04, 0x01...0x02, _, _, 0x11): return "NTAG215"
    case (0x04, 0x01...0x02, _, _, 0x13): return "NTAG216"
    case (0x04, 0x05, _, 1, 0x13): return "NTAG I²C 1k"
    case (0x04, 0x05, _, 1, 0x15): return "NTAG I²C 2k"
    case (0x04, 0x05, _, 2, 0x13): return "NTAG I²C plus 1k"
    case (0x04, 0x05, _, 2, 0x15): return "NTAG I²C plus 2k"
    default: return nil
    }
  }
}
