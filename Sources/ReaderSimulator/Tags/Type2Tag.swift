/// The commands of NFC Forum Type 2 (Type 2 Tag Operation Specification, section 5; NTAG213/215/216 data sheet, section
/// 10).
struct Type2Tag: TypeAApplication {
  private var pages: Type2Memory
  /// The page that the first half of a COMPATIBILITY WRITE named.
  private var compatibilityWritePage: Int?

  private static let invalidArgument: UInt8 = 0x0
  private static let transmissionError: UInt8 = 0x1

  init(_ pages: Type2Memory) { self.pages = pages }

  var atqa: [UInt8] { [0x44, 0x00] }
  var sak: UInt8 { 0x00 }
  var memory: [UInt8] { pages.bytes }
  var isInBlockProtocol: Bool { false }

  mutating func deactivate() { compatibilityWritePage = nil }

  mutating func receive(_ data: [UInt8]?) -> TypeAReply {
    guard let data, let command = data.first else { return .refuse(Self.transmissionError) }
    if let page = compatibilityWritePage {
      compatibilityWritePage = nil
      guard data.count == 16 else { return .refuse(Self.invalidArgument) }
      return write(Array(data[0..<4]), page: page)
    }
    switch (command, data.count) {
    case (0x30, 2): return read(page: Int(data[1]), count: 4)
    case (0xA2, 6): return write(Array(data[2..<6]), page: Int(data[1]))
    case (0xA0, 2):
      guard (2..<pages.model.pageCount).contains(Int(data[1])) else { return .refuse(Self.invalidArgument) }
      compatibilityWritePage = Int(data[1])
      return .acknowledge
    case (0x60, 1):
      guard let version = pages.model.version else { return unknownCommand }
      return .data(version)
    case (0x3A, 3):
      let (first, last) = (Int(data[1]), Int(data[2]))
      guard pages.model.version != nil else { return unknownCommand }
      guard first <= last, last < pages.model.pageCount else {
        return .refuse(Self.invalidArgument)
      }
      return read(page: first, count: last - first + 1)
    default: return unknownCommand
    }
  }

  /// An NTAG says no; the first Ultralight falls silent, by which nfc-mfultralight tells it from its successors.
  private var unknownCommand: TypeAReply {
    pages.model.version == nil ? .leave : .refuse(Self.invalidArgument)
  }

  private func read(page: Int, count: Int) -> TypeAReply {
    pages.read(page: page, count: count).map(TypeAReply.data) ?? .refuse(Self.invalidArgument)
  }

  private mutating func write(_ data: [UInt8], page: Int) -> TypeAReply {
    pages.write(data, page: page) ? .acknowledge : .refuse(Self.invalidArgument)
  }
}
