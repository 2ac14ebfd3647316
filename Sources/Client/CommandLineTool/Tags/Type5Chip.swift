import Bus
import Names
import TagrouteClient

/// The chip of a tag of ISO/IEC 15693, by its UID and its system information.
struct Type5Chip: Equatable {
  /// E0, the manufacturer, and the serial number, which begins with the product on some chips.
  let uid: [UInt8]
  /// Nil if the tag or the reader does not support the command.
  let information: Type5Information?

  /// Asks a tag. Nil if it is another kind of tag.
  static func of(_ tag: ReaderTag) async -> Type5Chip? {
    guard TagType(rawValue: tag.technology) == .type5 else { return nil }
    return Type5Chip(uid: tag.uid, information: await information(of: tag))
  }

  private static func information(of tag: ReaderTag) async -> Type5Information? {
    let isOfST = tag.uid.dropFirst().first == Manufacturer.st
    // An error of the daemon means that the tag is silent or gone, or that the reader cannot send such a request.
    guard let answer = await Self.answer(of: tag, .plain) else { return nil }
    guard var found = Type5Information(answer, .plain) else {
      guard isOfST, let answer = await Self.answer(of: tag, .protocolExtension) else { return nil }
      return Type5Information(answer, .protocolExtension)
    }
    guard found.blockCount == nil else { return found }
    // The number of blocks of a large memory does not fit into one byte.
    let hasExtension = isOfST && (found.icReference == 0x4E || found.icReference == 0x5E)
    let form: Type5Information.Form = hasExtension ? .protocolExtension : .extended
    guard let more = await Self.answer(of: tag, form).flatMap({ Type5Information($0, form) }) else { return found }
    (found.blockCount, found.blockSize) = (more.blockCount, more.blockSize)
    return found
  }

  private static func answer(of tag: ReaderTag, _ form: Type5Information.Form) async -> [UInt8]? {
    do throws(BusError) {
      return try await tag.transceive(form.command + tag.uid.reversed())
    } catch {
      return nil
    }
  }

  // MARK: Names

  private enum Manufacturer {
    static let st: UInt8 = 0x02
    static let nxp: UInt8 = 0x04
    static let ti: UInt8 = 0x07
  }

  /// The manufacturers of such chips in the register of ISO/IEC 7816-6.
  private static let manufacturers: [UInt8: String] = [
    Manufacturer.st: "STMicroelectronics", Manufacturer.nxp: "NXP", 0x05: "Infineon",
    Manufacturer.ti: "Texas Instruments", 0x08: "Fujitsu", 0x16: "EM Microelectronic", 0x17: "KSW Microtec",
    0x1D: "Fudan Microelectronics", 0x1F: "Melexis", 0x21: "TAGSYS", 0x2B: "Maxim", 0x36: "IDS Microchip",
    0x39: "Silicon Craft", 0x67: "onsemi",
  ]

  /// The name of the manufacturer; nil if it is unknown.
  var manufacturer: String? { uid.count == 8 ? Self.manufacturers[uid[1]] : nil }

  /// The name of the chip; nil if it is unknown.
  var name: String? {
    guard uid.count == 8 else { return nil }
    switch uid[1] {
    case Manufacturer.st: return nameOfST
    case Manufacturer.nxp: return nameOfNXP
    case Manufacturer.ti: return nameOfTI
    default: return nil
    }
  }

  /// The third byte is the product. Two bits of the fourth are its generation (ICODE SLIX2 data sheet, UID).
  private var nameOfNXP: String? {
    switch (uid[2], uid[3] >> 3 & 0x03) {
    case (0x01, 0): "ICODE SLI"
    case (0x01, 1): "ICODE SLIX2"
    case (0x01, 2): "ICODE SLIX"
    case (0x02, 0): "ICODE SLI-S"
    case (0x02, 2): "ICODE SLIX-S"
    case (0x03, 0): "ICODE SLI-L"
    case (0x03, 2): "ICODE SLIX-L"
    default: nil
    }
  }

  /// Seven bits of the third byte are the product (Tag-it HF-I Plus reference guide, UID).
  private var nameOfTI: String? {
    switch uid[2] & 0xFE {
    case 0x00, 0x80: "Tag-it HF-I Plus"
    case 0xC0: "Tag-it HF-I Standard"
    case 0xC4: "Tag-it HF-I Pro"
    default: nil
    }
  }

  /// By the IC reference, as in Android's NFC stack (rw_i93.cc).
  private var nameOfST: String? {
    guard let reference = information?.icReference else { return nil }
    switch (reference, reference & 0xFC) {
    case (0x4E, _): return "M24LR16E-R"
    case (0x5A, _): return "M24LR04E-R"
    case (0x5E, _): return "M24LR64E-R"
    case (0x24, _): return "ST25DV04K"
    case (0x26, _): return [512: "ST25DV16K", 2048: "ST25DV64K"][information?.blockCount ?? 0] ?? "ST25DV"
    case (_, 0x20): return "LRI2K"
    case (_, 0x28): return "LRIS2K"
    case (_, 0x2C): return "M24LR64-R"
    case (_, 0x40): return "LRI1K"
    case (_, 0x44): return "LRIS64K"
    default: return nil
    }
  }

  // MARK: Memory

  /// The number of blocks and the size of each; nil if the tag does not report them.
  var memory: (blockCount: Int, blockSize: Int)? {
    guard let information, let count = information.blockCount, let size = information.blockSize else { return nil }
    // These two report another number of blocks than they have (Android's NFC stack, rw_i93.cc).
    switch (uid.dropFirst().first, information.icReference) {
    case (Manufacturer.nxp?, 0x03?): return (8, 4)
    case (Manufacturer.st?, 0x21?): return (64, 4)
    default: return (count, size)
    }
  }
}

/// The answer to Get system information (ISO/IEC 15693-3, 10.4.12). A value is nil if the tag does not report it.
struct Type5Information: Equatable {
  /// The forms of the command.
  enum Form: Equatable {
    /// Numbers of blocks have one byte.
    case plain
    /// Of ST's M24LR and LRIS64K. Numbers of blocks have two bytes (M24LR64-R data sheet, 26).
    case protocolExtension
    /// Extended get system information, for the size of the memory. Numbers of blocks have two bytes.
    case extended

    /// The request without the UID, which follows. The flags are those of an addressed request.
    var command: [UInt8] {
      switch self {
      case .plain: [0x22, 0x2B]
      case .protocolExtension: [0x2A, 0x2B]
      case .extended: [0x22, 0x3B, 0x04]
      }
    }
  }

  /// Data storage format identifier.
  let dsfid: UInt8?
  /// Application family identifier.
  let afi: UInt8?
  var blockCount: Int?
  var blockSize: Int?
  /// The manufacturer's number for the product.
  let icReference: UInt8?

  /// Nil if the tag reports an error, or sends something else.
  init?(_ answer: [UInt8], _ form: Form) {
    // Response flags, which values there are, and the UID.
    guard answer.count >= 10, answer[0] & 0x01 == 0 else { return nil }
    var rest = answer[10...]
    func values(_ bit: UInt8, _ size: Int) -> [UInt8]? {
      guard answer[1] & bit != 0 else { return [] }
      guard rest.count >= size else { return nil }
      defer { rest = rest.dropFirst(size) }
      return Array(rest.prefix(size))
    }
    guard let dsfid = values(0x01, 1), let afi = values(0x02, 1),
      let memory = values(0x04, form == .plain ? 2 : 3), let icReference = values(0x08, 1)
    else { return nil }
    (self.dsfid, self.afi, self.icReference) = (dsfid.first, afi.first, icReference.first)
    guard let size = memory.last else { return }
    // The low byte comes first. All of them are one less than the number.
    blockCount = memory.dropLast().reversed().reduce(0) { $0 << 8 | Int($1) } + 1
    blockSize = Int(size & 0x1F) + 1
  }
}
