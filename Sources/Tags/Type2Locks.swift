/// Bytes whose bits, once set, make pages of a Type 2 tag read-only for ever.
struct Type2Locks: Equatable {
  /// Byte addresses, and the lock bits in each.
  let bytes: [(address: Int, mask: UInt8)]

  static func == (one: Type2Locks, other: Type2Locks) -> Bool {
    one.bytes.elementsEqual(other.bytes) { $0.address == $1.address && $0.mask == $1.mask }
  }

  private init(_ address: Int, _ masks: [UInt8]) {
    bytes = masks.enumerated().map { (address + $0.offset, $0.element) }
  }

  private init(page: Int, _ masks: UInt8...) { self.init(page * Type2Access.pageSize, masks) }

  private init(_ bytes: [(address: Int, mask: UInt8)]) { self.bytes = bytes }

  /// For the pages from 3 to 15: in page 2 (section 2.2). Bits 0 to 2 of the first byte freeze the others.
  static let `static` = Type2Locks(10, [0xF8, 0xFF])

  /// Whether the static lock bytes lock a page from 3 to 15.
  static func isLocked(_ page: Int, _ memory: TagMemory) -> Bool {
    guard (3...15).contains(page), let low = memory[10], let high = memory[11] else { return false }
    return (UInt16(high) << 8 | UInt16(low)) & 1 << UInt16(page) != 0
  }

  /// Where NXP's data sheets have the dynamic lock bytes, by the answer to GET_VERSION: product type, subtype, version and
  /// storage size. Bits that only freeze others are left out.
  ///
  /// - Returns: nil for a version that is not known here.
  static func ofVersion(_ version: [UInt8]) -> Type2Locks? {
    guard version.count == 8, version[1] == 0x04 else { return nil }
    switch (version[2], version[3], version[5], version[6]) {
    case (0x03, _, _, 0x0B), (0x04, _, _, 0x0B): return Type2Locks([])  // Ultralight EV1 and NTAG210: 48 bytes
    case (0x03, _, _, 0x0E), (0x04, _, _, 0x0E): return Type2Locks(page: 0x24, 0xFF, 0x03)  // EV1, NTAG212: 128 bytes
    case (0x04, _, _, 0x0F): return Type2Locks(page: 0x28, 0xFF, 0x0F)  // NTAG213
    case (0x04, _, _, 0x11): return Type2Locks(page: 0x82, 0xFF)  // NTAG215
    case (0x04, 0x05, 0x01, 0x15): return Type2Locks(page: 0x1E0, 0xFF, 0x7F)  // NTAG I2C 2k
    case (0x04, _, _, 0x13), (0x04, 0x05, _, 0x15): return Type2Locks(page: 0xE2, 0xFF, 0x3F)  // NTAG216, the other I2C
    default: return nil
    }
  }

  /// For the pages from 16 on of Ultralight C and NTAG203. Of lock byte 2 the bits 1 to 3 lock the pages 16, 20 and 24 and the
  /// three behind each, the bits 5 to 7 the pages 28, 32 and 36; 0 and 4 freeze the three that follow. Of lock byte 3 the upper
  /// four bits lock the counter and, on an Ultralight C, AUTH0, AUTH1 and the key, which the lower four freeze: none of them is
  /// about the message (MF0ICU2 data sheet 3.3, section 7.5.3; NTAG203 data sheet 3.0, section 8.5.2).
  static let ultralightC = Type2Locks(page: 0x28, 0xEE)

  /// What the lock control TLV says with which an NTAG203 leaves the factory.
  static let ntag203Control = Type2Locks(page: 0x28, 0xFF, 0xFF)

  /// Where NXP's tags that do not tell their version have the dynamic lock bytes, by the size in the capability container.
  ///
  /// - Returns: nil for sizes of tags that have them elsewhere than behind the data area, and of which the version should have
  ///   been had.
  static func ofSilentNXP(size: UInt8, behind area: Range<Int>) -> Type2Locks? {
    switch size {
    case 0x10: standard(behind: area)
    case 0x12: ultralightC
    default: nil
    }
  }

  /// Where lock control TLVs say that they are; those that point outside of any tag's memory do not count.
  ///
  /// - Returns: nil where there is none.
  static func ofControls(_ controls: [LockControl]) -> Type2Locks? {
    let bytes = controls.filter { $0.address >= 64 && $0.address < 2048 }
      .flatMap { Type2Locks($0.address, $0.masks).bytes }
    return bytes.isEmpty ? nil : Type2Locks(bytes)
  }

  /// Where they are if nothing else is said: behind the data area, one bit for 8 bytes from page 16 on (section 2.2).
  static func standard(behind area: Range<Int>) -> Type2Locks {
    let bits = (max(0, area.count - 48) + 7) / 8
    return Type2Locks(
      area.upperBound, (0..<(bits + 7) / 8).map { UInt8(truncatingIfNeeded: 1 << min(8, bits - $0 * 8) - 1) })
  }

  /// The pages that they lie in, ascending.
  var pages: [Int] { Set(bytes.map { $0.address / Type2Access.pageSize }).sorted() }

  func areAllSet(in memory: TagMemory) -> Bool {
    bytes.allSatisfy { (memory[$0.address] ?? 0) & $0.mask == $0.mask }
  }

  func isAnySet(in memory: TagMemory) -> Bool { bytes.contains { (memory[$0.address] ?? 0) & $0.mask != 0 } }

  /// What a page holds where all of its lock bits are set.
  func locked(_ page: Int, _ memory: TagMemory) -> [UInt8] {
    (page * Type2Access.pageSize..<(page + 1) * Type2Access.pageSize).map { address in
      bytes.filter { $0.address == address }.reduce(memory[address] ?? 0) { $0 | $1.mask }
    }
  }
}
