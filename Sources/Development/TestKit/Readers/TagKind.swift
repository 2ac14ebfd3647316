package import ReaderSimulator

/// The kinds of tags.
package enum TagKind: CaseIterable, Sendable {
  case type1, type2, type3, type4A, type4B, type5, mifareClassic

  /// The kinds that a PN53x can find.
  package static let ofPN53x = allCases.filter { $0 != .type5 }

  /// A tag with this message that everyone may write and lock.
  package func make(_ message: [UInt8]) throws -> SimulatedTag {
    let options = Type4Options { $0.containerIsWritable = true }
    return switch self {
    case .type1: try .type1(.topaz96, message: message)
    case .type2: try .type2(.ntag215, message: message)
    case .type3: try .type3(message: message)
    case .type4A: try .type4(message: message, options: options)
    case .type4B: try .type4B(message: message, options: options)
    case .type5: try .type5(.slix2, message: message)
    case .mifareClassic: try .mifareClassic(.classic1K, message: message)
    }
  }
}
