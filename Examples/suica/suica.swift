import TagrouteClient

/// Prints the history of a transit card (Suica, PASMO, ICOCA, …). Each line is a journey or a purchase: its date, the
/// codes of the first and the last station, and the remaining balance. The program needs no key, and does not write to
/// the card.
@main struct Suica {
  static func main() async throws {
    let session = try await ReaderSession.start(
      ReaderSessionOptions(message: "Hold your transit card near the reader.", systemCodes: [0x0003]))
    for await event in session.events {
      switch event {
      case .tagDetected(let card):
        for entry in try await history(of: card) { print(entry) }
        try await session.invalidate()
      case .ended(let end) where end.reason != .invalidated: throw Failure("no card was read: \(end.reason.rawValue)")
      default: break
      }
    }
  }

  /// The service of the history, low byte first. It holds 20 blocks, and a card returns at most 12 at once.
  static let service: [UInt8] = [0x0F, 0x09]

  static func history(of card: ReaderTag) async throws -> [Entry] {
    // Request Service (JIS X 6319-4): the version of the service's key, or FFFF if there is no such service.
    let version = try await card.transceive([0x02] + card.idm + [1] + service)
    guard version.count == 12, version[10...] != [0xFF, 0xFF] else { throw Failure("the card keeps no history") }
    return try await (read(card, 0..<12) + read(card, 12..<20)).compactMap(Entry.init)
  }

  /// Read Without Encryption. A block list element has two bytes: `80` and the number of the block.
  static func read(_ card: ReaderTag, _ blocks: Range<UInt8>) async throws -> [ArraySlice<UInt8>] {
    let answer = try await card.transceive(
      [0x06] + card.idm + [1] + service + [UInt8(blocks.count)] + blocks.flatMap { [0x80, $0] })
    guard answer.count == 12 + 16 * blocks.count, answer[9...10] == [0, 0] else { throw Failure("the card refuses") }
    return (0..<blocks.count).map { answer[(12 + 16 * $0)..<(28 + 16 * $0)] }
  }
}

/// One block: bytes 4 and 5 are the date, 6 and 7 the entry, 8 and 9 the exit, 10 and 11 the balance, low byte first.
struct Entry: CustomStringConvertible {
  let description: String

  /// Nil if the block is empty.
  init?(_ block: ArraySlice<UInt8>) {
    func number(_ high: Int, _ low: Int) -> Int {
      Int(block[block.startIndex + high]) << 8 | Int(block[block.startIndex + low])
    }
    let date = number(4, 5)
    guard date != 0 else { return nil }
    let day = "\(2000 + (date >> 9))-\(Entry.digits(date >> 5 & 15, 10, 2))-\(Entry.digits(date & 31, 10, 2))"
    let (entry, exit) = (Entry.digits(number(6, 7), 16, 4), Entry.digits(number(8, 9), 16, 4))
    description = "\(day)  \(entry) → \(exit)  ¥\(number(11, 10))"
  }

  private static func digits(_ number: Int, _ radix: Int, _ count: Int) -> String {
    let text = String(number, radix: radix, uppercase: true)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
