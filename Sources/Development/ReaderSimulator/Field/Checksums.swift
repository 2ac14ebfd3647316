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
