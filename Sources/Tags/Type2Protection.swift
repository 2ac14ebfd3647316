/// The protection of pages by a password (NTAG) or a key (Ultralight C), which nobody here knows.
enum Type2Protection {
  /// Why such a tag is not written.
  static let problem = TagProblem(.protected, "the tag lets itself be written only with its password or key")

  /// Where AUTH0 is, the number of the first page that is protected.
  struct Place {
    /// A page from which READ gets it.
    let page: Int
    let address: Int
    /// What AUTH0 may be where it protects anything.
    private let valid: ClosedRange<Int>

    /// Nil for tags without such a page, and for those that are not known here.
    ///
    /// - Parameters:
    ///   - version: the answer to GET_VERSION, nil where there is none.
    ///   - isNXP: whether the UID is one of NXP's.
    ///   - size: of the capability container.
    init?(version: [UInt8]?, isNXP: Bool, size: UInt8) {
      if let version {
        guard let page = Self.configurationPage(version) else { return nil }
        (self.page, address, valid) = (page, page * Type2Access.pageSize + 3, 0...0xFE)
        return
      }
      // The Ultralight C does not tell its version, nor does the NTAG203, which has no AUTH0. Its lock bytes come along. 30 says
      // that nothing is protected (MF0ICU2 data sheet, section 7.5.8).
      guard isNXP, size == 0x12 else { return nil }
      (page, address, valid) = (0x28, 0x2A * Type2Access.pageSize, 0x03...0x2F)
    }

    /// - Parameter memory: with the page.
    /// - Returns: a page, `Int.max` where none is protected.
    func firstProtectedPage(_ memory: TagMemory) -> Int {
      guard let first = memory[address].map(Int.init), valid.contains(first) else { return .max }
      return first
    }

    /// The page whose last byte is AUTH0, by product type, subtype, minor version and storage size (MF0ULx1 data sheet, section
    /// 8.5.7; NTAG210/212 and NTAG213/215/216 data sheets, section 8.5; NT3H2111/2211 data sheet, section 8.3.11: the first
    /// NTAG I2C had no password).
    private static func configurationPage(_ version: [UInt8]) -> Int? {
      guard version.count == 8, version[1] == 0x04, [0x03, 0x04].contains(version[2]) else { return nil }
      switch (version[2], version[3], version[5], version[6]) {
      case (0x04, 0x05, 0x02, 0x13), (0x04, 0x05, 0x02, 0x15): return 0xE3  // NTAG I2C plus
      case (0x04, 0x05, _, _): return nil
      case (_, _, _, 0x0B): return 0x10  // Ultralight EV1 of 48 bytes, NTAG210
      case (_, _, _, 0x0E): return 0x25  // Ultralight EV1 of 128 bytes, NTAG212
      case (0x04, _, _, 0x0F): return 0x29  // NTAG213
      case (0x04, _, _, 0x11): return 0x83  // NTAG215
      case (0x04, _, _, 0x13): return 0xE3  // NTAG216
      default: return nil
      }
    }
  }
}
