/// The UID of a Type A tag (ISO/IEC 14443-3, 6.5.4).
package struct TagUID: Sendable, Hashable, CustomStringConvertible {
  private enum Kind: Hashable {
    case fixed([UInt8])
    case random
  }
  private let kind: Kind

  /// Four bytes that start with 08 and change each time the field comes on, as on phones and on cards that protect
  /// their owner.
  package static let random = TagUID(kind: .random)

  /// A UID of 4, 7 or 10 bytes. Fails for any other number, and for four bytes that start with 88, which announces
  /// more.
  package static func fixed(_ bytes: [UInt8]) throws(SimulatorError) -> TagUID {
    guard [4, 7, 10].contains(bytes.count) else {
      throw SimulatorError("a UID has 4, 7 or 10 bytes, not \(bytes.count)")
    }
    guard bytes.count != 4 || bytes[0] != 0x88 else {
      throw SimulatorError("a UID of 4 bytes cannot begin with 88, the cascade tag")
    }
    return TagUID(kind: .fixed(bytes))
  }

  /// A generated UID of seven bytes, the first of them NXP's 04.
  package static func generated() -> TagUID {
    TagUID(kind: .fixed([0x04] + (0..<6).map { _ in UInt8.random(in: 0...0xFF) }))
  }

  /// A generated UID of a Topaz tag: seven bytes, the last of them Innovision's 25.
  package static func generatedTopaz() -> TagUID {
    TagUID(kind: .fixed((0..<4).map { _ in UInt8.random(in: 0...0xFF) } + [0x00, 0x00, 0x25]))
  }

  private init(kind: Kind) { self.kind = kind }

  /// The bytes for one activation.
  func bytes() -> [UInt8] {
    switch kind {
    case .fixed(let bytes): bytes
    case .random: [0x08] + (0..<3).map { _ in UInt8.random(in: 0...0xFF) }
    }
  }

  /// The bytes, if they do not change; nil for a random UID.
  package var fixedBytes: [UInt8]? {
    if case .fixed(let bytes) = kind { bytes } else { nil }
  }

  /// Hexadecimal digits, or "random".
  package var description: String { fixedBytes.map(Hexadecimal.string) ?? "random" }
}
