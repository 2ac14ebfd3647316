/// The commands of NFC Forum Type 2 (Type 2 Tag Operation Specification, section 5; NTAG213/215/216 data sheet, section
/// 10).
struct Type2Tag: TypeAApplication {
  private var pages: Type2Memory
  /// The page from the first half of a COMPATIBILITY WRITE.
  private var compatibilityWritePage: Int?
  private var sector = 0
  /// Whether the first packet of SECTOR SELECT has arrived.
  private var awaitsSector = false

  private static let invalidArgument: UInt8 = 0x0
  private static let transmissionError: UInt8 = 0x1

  init(_ pages: Type2Memory) { self.pages = pages }

  var atqa: [UInt8] { [0x44, 0x00] }
  var sak: UInt8 { 0x00 }
  var memory: [UInt8] { pages.bytes }
  mutating func tearWrites(_ tear: WriteTear?) { pages.writeTear = tear }
  var isInBlockProtocol: Bool { false }

  mutating func deactivate() {
    compatibilityWritePage = nil
    awaitsSector = false
    sector = 0
  }

  mutating func receive(_ data: [UInt8]?) -> TypeAReply {
    guard let data, let command = data.first else { return .refuse(Self.transmissionError) }
    if let page = compatibilityWritePage {
      compatibilityWritePage = nil
      guard data.count == 16 else { return .refuse(Self.invalidArgument) }
      return write(Array(data[0..<4]), page: page)
    }
    if awaitsSector {
      awaitsSector = false
      return select(sector: data)
    }
    switch (command, data.count) {
    case (0x30, 2): return answer(pages.read(page: address(data[1])))
    case (0xA2, 6): return write(Array(data[2..<6]), page: address(data[1]))
    case (0xA0, 2):
      let page = address(data[1])
      guard page >= 2, pages.model.hasPage(page) else { return .refuse(Self.invalidArgument) }
      compatibilityWritePage = page
      return .acknowledge
    case (0x60, 1): return pages.model.version.map(TypeAReply.data) ?? unknownCommand
    case (0x3A, 3):
      guard pages.model.version != nil else { return unknownCommand }
      guard data[1] <= data[2] else { return .refuse(Self.invalidArgument) }
      return answer(pages.read(pages: address(data[1])...address(data[2])))
    case (0xC2, 2):
      guard pages.model.hasSectors else { return unknownCommand }
      guard data[1] == 0xFF else { return .refuse(Self.invalidArgument) }
      awaitsSector = true
      return .acknowledge
    // The first half of the authentication. The second half always fails here.
    case (0x1A, 2):
      return pages.model.hasTripleDES ? .data([0xAF] + [UInt8](repeating: 0x5A, count: 8)) : unknownCommand
    default: return unknownCommand
    }
  }

  /// Selects a sector. The tag confirms this by silence.
  private mutating func select(sector data: [UInt8]) -> TypeAReply {
    guard data.count == 4, pages.model.hasPage(Int(data[0]) << 8) else { return .refuse(Self.invalidArgument) }
    sector = Int(data[0])
    return .ignore
  }

  private func address(_ page: UInt8) -> Int { sector << 8 | Int(page) }

  private var unknownCommand: TypeAReply {
    pages.model.isSilentAtUnknownCommands ? .leave : .refuse(Self.invalidArgument)
  }

  private func answer(_ bytes: [UInt8]?) -> TypeAReply {
    bytes.map(TypeAReply.data) ?? .refuse(Self.invalidArgument)
  }

  private mutating func write(_ data: [UInt8], page: Int) -> TypeAReply {
    pages.write(data, page: page) ? .acknowledge : .refuse(Self.invalidArgument)
  }
}
