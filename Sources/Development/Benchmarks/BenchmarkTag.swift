import NDEF
import ReaderSimulator

/// A kind of tag to measure. A further kind needs only one line in `all`.
struct BenchmarkTag: Sendable {
  /// The program in Debian that reads such a tag.
  struct Tool: Sendable {
    let program: String
    let package: String
    let arguments: [String]
  }

  /// The name in the tables: letters, digits, spaces and dashes.
  let name: String
  /// The sizes of the messages to measure, in bytes.
  let sizes: [Int]
  /// Whether its detection is measured. One kind is enough for each way in which programs find tags.
  let isPolledFor: Bool
  let isKnownToNfcpy: Bool
  let tool: Tool?
  /// Creates a tag that holds an encoded message.
  let make: @Sendable (_ message: [UInt8]) throws -> SimulatedTag

  private init(
    _ name: String, sizes: [Int], polled: Bool = false, nfcpy: Bool = true, tool: Tool? = nil,
    _ make: @escaping @Sendable ([UInt8]) throws -> SimulatedTag
  ) {
    self.name = name
    self.sizes = sizes
    isPolledFor = polled
    isKnownToNfcpy = nfcpy
    self.tool = tool
    self.make = make
  }

  static let all: [BenchmarkTag] = [
    BenchmarkTag("Type 1 Topaz 96", sizes: [12, 37], polled: true, tool: .jewel) { try .type1(.topaz96, message: $0) },
    BenchmarkTag("Type 1 Topaz 512", sizes: [37, 200, 440]) { try .type1(.topaz512, message: $0) },
    BenchmarkTag("Type 2 Ultralight", sizes: [12, 37], tool: .ultralight) { try .type2(.ultralight, message: $0) },
    BenchmarkTag("Type 2 NTAG215", sizes: [12, 37, 200, 480], polled: true, tool: .ultralight) {
      try .type2(.ntag215, message: $0)
    },
    BenchmarkTag("Type 2 NTAG216", sizes: [860], tool: .ultralight) { try .type2(.ntag216, message: $0) },
    BenchmarkTag("Type 3 FeliCa Lite-S", sizes: [12, 37, 200], polled: true, tool: .felica) { try .type3(message: $0) },
    BenchmarkTag("Type 3 FeliCa Standard", sizes: [37, 200, 2000], tool: .felica) {
      try .type3(message: $0, options: Type3Options(.standard))
    },
    BenchmarkTag("Type 4A", sizes: [12, 37, 200, 2000], polled: true) { try .type4(message: $0) },
    // nfcpy releases a card that a PN532 has activated by DESELECT with a CID. A card without CID, like this one,
    // ignores that (ISO/IEC 14443-4, 7.1.2.2).
    BenchmarkTag("Type 4B", sizes: [12, 37, 200, 2000], polled: true, nfcpy: false) { try .type4B(message: $0) },
    BenchmarkTag("MIFARE Classic 1K", sizes: [12, 37, 200, 700], polled: true, nfcpy: false, tool: .classic) {
      try .mifareClassic(.classic1K, message: $0)
    },
  ]

  /// A link whose message has 37 bytes: a record header of 4, the prefix https://, and 32 bytes. `number` has at most nine
  /// digits, the last of the link.
  static func link(_ number: Int) -> String {
    let digits = String(number)
    return "https://menu.example.com/table/" + String(repeating: "0", count: 9 - digits.count) + digits
  }

  /// An encoded message of `size` bytes: one record with a URI. `size` is 6 or more, but not 260 to 262, because the
  /// payload's length takes one byte or four. In the URI, `letter` alternates with numbers, so that no two parts are
  /// the same.
  static func message(size: Int, of letter: String = "a") throws -> [UInt8] {
    // Type and lengths take four bytes or seven, the URI's prefix one.
    let length = max(size - (size < 260 ? 5 : 8), 0)
    let path = (0...length / 5).map { number in
      let digits = String(number)
      return letter + String(repeating: "0", count: max(4 - digits.count, 0)) + digits
    }
    return try NDEFMessage.uri("https://" + path.joined().prefix(length)).encoded()
  }
}

extension BenchmarkTag.Tool {
  fileprivate static let classic = BenchmarkTag.Tool(
    program: "mifare-classic-read-ndef", package: "libfreefare-bin", arguments: ["-y", "-o", "/dev/null"])
  fileprivate static let felica = BenchmarkTag.Tool(
    program: "nfc-read-forum-tag3", package: "libnfc-examples", arguments: ["-o", "/dev/null"])
  fileprivate static let jewel = BenchmarkTag.Tool(
    program: "nfc-jewel", package: "libnfc-examples", arguments: ["r", "/dev/null"])
  fileprivate static let ultralight = BenchmarkTag.Tool(
    program: "nfc-mfultralight", package: "libnfc-examples", arguments: ["r", "/dev/null"])
}
