import Bus
import TagrouteClient

/// What a Type 2 tag answers to GET_VERSION, which changes nothing (NXP MF0ULx1, NTAG213_215_216 and NT3H2111_2211, section
/// GET_VERSION).
struct ChipVersion: Equatable {
  /// Eight bytes: a fixed one, vendor, product, subtype, major and minor version, storage size, protocol.
  let answer: [UInt8]

  /// Nil where it is no such answer.
  init?(_ answer: [UInt8]) {
    guard answer.count == 8 else { return nil }
    self.answer = answer
  }

  /// Asks a tag. The last thing that is asked: one that does not know the command falls silent.
  ///
  /// - Returns: nil where it is another kind of tag, or does not know.
  static func of(_ tag: ReaderTag) async -> ChipVersion? {
    guard tag.technology == "type-2" else { return nil }
    do throws(BusError) {
      return ChipVersion(try await tag.transceive([0x60]))
    } catch {
      return nil
    }
  }

  /// What the chip is called; nil for one that is not known here.
  var name: String? {
    guard answer[1] == 0x04 else { return nil }
    switch (answer[2], answer[3], answer[4], answer[5], answer[6]) {
    case (0x03, 0x01...0x02, 2, _, 0x0B): return "MIFARE Ultralight Nano"
    case (0x03, 0x01...0x02, _, _, 0x0B): return "MIFARE Ultralight EV1, 48 bytes"
    case (0x03, 0x01...0x02, _, _, 0x0E): return "MIFARE Ultralight EV1, 128 bytes"
    case (0x04, 0x01...0x02, 2, _, 0x0B): return "NTAG210µ"
    case (0x04, 0x01...0x02, _, _, 0x0B): return "NTAG210"
    case (0x04, 0x01...0x02, _, _, 0x0E): return "NTAG212"
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
