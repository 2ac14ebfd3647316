import Rig
import Testing

@testable import Tags

/// Compares the table for Type 5 in `docs/exchanges.md` with the specification and with counted exchanges.
@Suite struct Type5ExchangeTests {
  struct Row {
    let tag: String
    let isMultiple: Bool
    let size: Int
    let atLeast: Int
    let exchanges: Int

    /// The size of a block, and the capability container without its features.
    var format: (blockSize: Int, container: [UInt8])? {
      switch tag {
      case "Blocks of 4 bytes": (4, [0xE1, 0x40, 0x7F, 0])
      case "Blocks of 8 bytes": (8, [0xE1, 0x40, 0xFF, 0])
      case "Blocks of 32 bytes": (32, [0xE1, 0x40, 0xFF, 0])
      case "Blocks of 4 bytes, 8,448 bytes": (4, [0xE2, 0x40, 0, 0, 0, 0, 0x04, 0x20])
      default: nil
      }
    }

    /// The least number of commands: READ SINGLE BLOCK of block 0, and then the rest in one run. A command contains
    /// block numbers of one size, and its answer is at most as long as every reader allows.
    func least(_ blockSize: Int, containerSize: Int) -> Int {
      func pieces(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }
      let blocks = pieces(containerSize + (size < 0xFF ? 2 : 4) + size, of: blockSize)
      guard isMultiple else { return blocks }
      let atOnce = (ExchangeLimit.answer - 1) / blockSize
      let short = min(blocks, 0x100)
      return 1 + pieces(short - 1, of: atOnce) + pieces(blocks - short, of: atOnce)
    }
  }

  private static func rows() throws -> [Row] {
    let text = String(decoding: try readFile("\(repositoryRoot)/docs/exchanges.md"), as: UTF8.self)
    let rows = text.split(separator: "\n").compactMap { line -> Row? in
      let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
      guard cells.count == 5, let size = Int(cells[2]), let atLeast = Int(cells[3]), let exchanges = Int(cells[4])
      else { return nil }
      return Row(tag: cells[0], isMultiple: cells[1] == "yes", size: size, atLeast: atLeast, exchanges: exchanges)
    }
    // Otherwise the test would pass if no row could be read.
    try #require(rows.count >= 12)
    return rows
  }

  @Test func `the table gives the least and the counted exchanges`() throws {
    for row in try Self.rows() {
      let (blockSize, container) = try #require(row.format, "\(row.tag)")
      #expect(row.least(blockSize, containerSize: container.count) == row.atLeast, "\(row)")
      let message = try message(ofSize: row.size)
      var tag = Type5Memory(message: message, container, blockSize: blockSize)
      if row.isMultiple { tag.bytes[3] = 0x01 }
      #expect(try TagActivation.type5.readNDEF(over: &tag) == .message(message))
      #expect(tag.commands.count == row.exchanges, "\(row)")
    }
  }
}
