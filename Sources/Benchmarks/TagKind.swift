import NDEF
import ReaderSimulator

/// A kind of tag that is measured: one line of `all` is all that a further one takes.
struct TagKind: Sendable {
  /// What of Debian's reads such a tag.
  struct Tool: Sendable {
    let program: String
    let package: String
    let arguments: [String]
  }

  /// As the tables name it; made of letters, digits, spaces and dashes.
  let name: String
  /// Bytes of the messages that are measured.
  let sizes: [Int]
  /// Whether it is one of those whose detection is measured: one for each way in which tags are found.
  let isPolledFor: Bool
  /// Whether nfcpy knows how to read it.
  let isKnownToNfcpy: Bool
  let tool: Tool?
  /// A tag that holds an encoded message.
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

  static let all: [TagKind] = [
    TagKind("Type 1 Topaz 96", sizes: [12, 37], polled: true, tool: .jewel) { try .type1(.topaz96, message: $0) },
    TagKind("Type 1 Topaz 512", sizes: [37, 200, 440]) { try .type1(.topaz512, message: $0) },
    TagKind("Type 2 Ultralight", sizes: [12, 37], tool: .ultralight) { try .type2(.ultralight, message: $0) },
    TagKind("Type 2 NTAG215", sizes: [12, 37, 200, 480], polled: true, tool: .ultralight) {
      try .type2(.ntag215, message: $0)
    },
    TagKind("Type 2 NTAG216", sizes: [860], tool: .ultralight) { try .type2(.ntag216, message: $0) },
    TagKind("Type 3 FeliCa Lite-S", sizes: [12, 37, 200], polled: true, tool: .felica) { try .type3(message: $0) },
    TagKind("Type 3 FeliCa Standard", sizes: [37, 200, 2000], tool: .felica) {
      try .type3(message: $0, options: Type3Options(.standard))
    },
    TagKind("Type 4A", sizes: [12, 37, 200, 2000], polled: true) { try .type4(message: $0) },
    // nfcpy lets go of what a PN532 has activated by DESELECT with a CID, and a card without CID, like this one, does not
    // hear that (ISO/IEC 14443-4, 7.1.2.2).
    TagKind("Type 4B", sizes: [12, 37, 200, 2000], polled: true, nfcpy: false) { try .type4B(message: $0) },
    TagKind("MIFARE Classic 1K", sizes: [12, 37, 200, 700], polled: true, nfcpy: false, tool: .classic) {
      try .mifareClassic(.classic1K, message: $0)
    },
  ]

  /// A message of so many bytes: one record, a URI.
  ///
  /// - Parameters:
  ///   - size: from 6 on; 260 to 262 cannot be: the payload's length takes one byte or four.
  ///   - letter: what the URI is made of, with numbers: no two pieces of it are the same.
  /// - Returns: its encoding.
  /// - Throws: `NDEFError` where there is no such message.
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

extension TagKind.Tool {
  fileprivate static let classic = TagKind.Tool(
    program: "mifare-classic-read-ndef", package: "libfreefare-bin", arguments: ["-y", "-o", "/dev/null"])
  fileprivate static let felica = TagKind.Tool(
    program: "nfc-read-forum-tag3", package: "libnfc-examples", arguments: ["-o", "/dev/null"])
  fileprivate static let jewel = TagKind.Tool(
    program: "nfc-jewel", package: "libnfc-examples", arguments: ["r", "/dev/null"])
  fileprivate static let ultralight = TagKind.Tool(
    program: "nfc-mfultralight", package: "libnfc-examples", arguments: ["r", "/dev/null"])
}
