import Bus

/// A request of ISO/IEC 15693-3 (7.3): flags, command code, parameters. In an addressed one, the UID comes before the
/// parameters, but after the byte of `prefix`.
struct VicinityRequest {
  /// Request flags (7.3.1).
  private enum Flag {
    static let inventory: UInt8 = 0x04
    /// Reserved. With it, ST's M24LR and LRIS64K have block numbers of two bytes.
    static let protocolExtension: UInt8 = 0x08
    static let select: UInt8 = 0x10
    static let address: UInt8 = 0x20
    /// Reserved, or depends on the command.
    static let bit8: UInt8 = 0x80
  }

  static let select: UInt8 = 0x25
  static let resetToReady: UInt8 = 0x26
  private static let inventory: UInt8 = 0x01
  private static let stayQuiet: UInt8 = 0x02
  private static let extendedSystemInformation: UInt8 = 0x3B
  /// Commands of the chip's manufacturer. The manufacturer's code (ISO/IEC 7816-6) follows the command code.
  private static let custom: ClosedRange<UInt8> = 0xA0...0xDF

  private let flags: UInt8
  let code: UInt8
  /// The manufacturer, or the fields that Extended get system information requests.
  private let prefix: UInt8?
  /// The UID in the order of transmission, the byte E0 last; nil if the request is not addressed.
  let address: ArraySlice<UInt8>?
  let parameters: ArraySlice<UInt8>

  /// Throws `InvalidArgument` if the bytes are not a request, or if only the reader process sends such requests.
  init(_ bytes: [UInt8]) throws(BusError) {
    guard bytes.count >= 2 else {
      throw .invalidArgument("a request of ISO/IEC 15693 has at least flags and a command code")
    }
    (flags, code) = (bytes[0], bytes[1])
    guard flags & Flag.inventory == 0, code != Self.inventory else {
      throw .invalidArgument("only the reader process looks for tags")
    }
    guard code != Self.stayQuiet else {
      throw .invalidArgument("Stay quiet is not sent: the reader process would not find the tag any more")
    }
    var rest = bytes[2...]
    let hasPrefix = Self.custom.contains(code) || code == Self.extendedSystemInformation
    prefix = hasPrefix ? rest.popFirst() : nil
    guard !hasPrefix || prefix != nil else {
      throw .invalidArgument("the byte after the command code is missing")
    }
    guard flags & Flag.address != 0 else {
      address = nil
      parameters = rest
      return
    }
    guard flags & Flag.select == 0, rest.count >= 8 else {
      throw .invalidArgument("an addressed request has the UID in eight bytes, and no select flag")
    }
    address = rest.prefix(8)
    parameters = rest.dropFirst(8)
  }

  var isForSelectedTag: Bool { flags & Flag.select != 0 }

  /// Whether a chip of this manufacturer is known to change no data by this request, in exactly this form.
  func isKnownRead(of manufacturer: UInt8?) -> Bool {
    guard flags & Flag.bit8 == 0 else { return false }
    let isExtended = flags & Flag.protocolExtension != 0
    guard Self.custom.contains(code) else {
      return (isExtended ? Self.readsOfST : Self.reads)[code] == parameters.count
    }
    guard let prefix, prefix == manufacturer else { return false }
    switch prefix {
    case 0x02: return (isExtended ? Self.extendedFastReadsOfST : Self.fastReadsOfST)[code] == parameters.count
    case 0x04: return !isExtended && Self.readsOfNXP[code] == parameters.count
    default: return false
    }
  }

  /// Read single block, Read multiple blocks, Get system information, Get multiple block security status, Fast read
  /// multiple blocks, and their extended forms; Read buffer. With the number of parameters.
  private static let reads: [UInt8: Int] = [
    0x20: 1, 0x23: 2, 0x2B: 0, 0x2C: 2, 0x2D: 2, 0x30: 2, 0x33: 4, 0x3B: 0, 0x3C: 4, 0x3D: 4, 0x3A: 0,
  ]

  /// The first three of them, with the protocol extension flag (ST M24LR64-R data sheet, 26).
  private static let readsOfST: [UInt8: Int] = [0x20: 2, 0x23: 3, 0x2B: 0]

  /// Fast read single block, Fast read multiple blocks, and their extended forms (ST25DV data sheet, RF commands).
  private static let fastReadsOfST: [UInt8: Int] = [0xC0: 1, 0xC3: 2, 0xC4: 2, 0xC5: 4]

  /// The first two of them, with the protocol extension flag (ST M24LR64-R data sheet, 26).
  private static let extendedFastReadsOfST: [UInt8: Int] = [0xC0: 2, 0xC3: 3]

  /// Get NXP system information, Get random number, Get multiple block protection status, Read signature (NXP ICODE
  /// SLIX2 data sheet, custom commands), Read config (NTAG 5 link data sheet).
  private static let readsOfNXP: [UInt8: Int] = [0xAB: 0, 0xB2: 0, 0xB8: 2, 0xBD: 0, 0xC0: 2]
}
