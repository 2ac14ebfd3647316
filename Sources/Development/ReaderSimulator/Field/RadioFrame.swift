/// The modulation of a frame. It shows a tag whether the frame is for its technology.
enum RadioModulation: Hashable, Sendable {
  /// ISO/IEC 14443 Type A at 106 kbit/s.
  case typeA
  /// ISO/IEC 14443 Type B at 106 kbit/s.
  case typeB
  /// FeliCa (JIS X 6319-4) at 212 kbit/s.
  case felica212
  /// FeliCa at 424 kbit/s.
  case felica424
  /// Innovision Jewel and Topaz, on Type A's modulation.
  case jewel
  /// ISO/IEC 15693, vicinity cards. No PN532 sends it; readers for PC/SC do.
  case vicinity

  func checksum(_ data: some Sequence<UInt8>) -> [UInt8] {
    switch self {
    case .typeA: ProximityCRC.typeA(data)
    case .typeB, .jewel, .vicinity: ProximityCRC.typeB(data)
    case .felica212, .felica424: FeliCaCRC.checksum(data)
    }
  }
}

/// A frame on the air, including its CRC if it has one.
struct RadioFrame: Hashable, Sendable {
  var modulation: RadioModulation = .typeA
  var bytes: [UInt8]
  /// How many bits of the last byte are sent, 0 for all eight.
  var lastBits = 0

  /// REQA and WUPA: seven bits (ISO/IEC 14443-3, 6.4.1).
  static func short(_ command: UInt8) -> RadioFrame { RadioFrame(bytes: [command], lastBits: 7) }

  /// A standard frame: `data` and the checksum of its modulation.
  static func standard(_ data: [UInt8], _ modulation: RadioModulation = .typeA) -> RadioFrame {
    RadioFrame(modulation: modulation, bytes: data + modulation.checksum(data))
  }

  /// An acknowledgement of MIFARE and Type 2 tags: four bits.
  static func acknowledgement(_ code: UInt8) -> RadioFrame { RadioFrame(bytes: [code & 0x0F], lastBits: 4) }

  /// The frame with two bits of a byte inverted. No checksum accepts it, and an acknowledgement becomes no other valid
  /// one.
  var garbled: RadioFrame {
    var frame = self
    if let middle = bytes.indices.dropFirst(bytes.count / 2).first { frame.bytes[middle] ^= 0x03 }
    return frame
  }

  /// The data without its checksum; nil if the checksum is not valid.
  var checkedData: [UInt8]? {
    guard lastBits == 0, bytes.count > 2 else { return nil }
    let data = Array(bytes.dropLast(2))
    return modulation.checksum(data) == Array(bytes.suffix(2)) ? data : nil
  }
}

/// CRC_A and CRC_B of ISO/IEC 14443-3, annex B: polynomial 0x8408 reflected, low byte first.
enum ProximityCRC {
  /// CRC_A: start value 0x6363.
  static func typeA(_ data: some Sequence<UInt8>) -> [UInt8] { lowByteFirst(register(data, from: 0x6363)) }

  /// CRC_B, of Type B and of Jewel and Topaz: start value 0xFFFF, complemented.
  static func typeB(_ data: some Sequence<UInt8>) -> [UInt8] { lowByteFirst(~register(data, from: 0xFFFF)) }

  private static func register(_ data: some Sequence<UInt8>, from start: UInt16) -> UInt16 {
    var register = start
    for byte in data {
      register ^= UInt16(byte)
      for _ in 0..<8 { register = register & 1 != 0 ? register >> 1 ^ 0x8408 : register >> 1 }
    }
    return register
  }

  private static func lowByteFirst(_ value: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
  }
}

/// The CRC of FeliCa frames (JIS X 6319-4): polynomial 0x1021, start value 0, high byte first. It covers the length byte.
enum FeliCaCRC {
  static func checksum(_ data: some Sequence<UInt8>) -> [UInt8] {
    var register: UInt16 = 0
    for byte in data {
      register ^= UInt16(byte) << 8
      for _ in 0..<8 { register = register & 0x8000 != 0 ? register << 1 ^ 0x1021 : register << 1 }
    }
    return [UInt8(truncatingIfNeeded: register >> 8), UInt8(truncatingIfNeeded: register)]
  }
}
