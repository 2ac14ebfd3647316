import Framing
import NDEF
import Names
import Testing

@testable import ReaderSimulator

/// An encoded message with one URI.
func uri(_ text: String) throws -> [UInt8] { try NDEFMessage.uri(text).encoded() }

/// A message that encodes to exactly `size` bytes, at least 8. No piece of it equals the piece before it in a
/// transfer: its payload repeats after a prime number of bytes.
func message(ofSize size: Int) -> [UInt8] {
  let count = size - 7
  let length = (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
  return [0xC1, 0x01] + length + [UInt8(ascii: "T")] + (0..<count).map { UInt8($0 % 251) }
}

/// The kinds of tags.
enum TagKind: CaseIterable {
  case type1, type2, type3, type4A, type4B, type5, mifareClassic

  var type: TagType {
    switch self {
    case .type1: .type1
    case .type2: .type2
    case .type3: .type3
    case .type4A: .type4A
    case .type4B: .type4B
    case .type5: .type5
    case .mifareClassic: .mifareClassic
    }
  }

  func make(_ message: [UInt8]) throws -> SimulatedTag {
    var options = Type4Options()
    options.containerIsWritable = true
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

  private var technology: CardReaderModel.Technology {
    switch self {
    case .type1: .jewel
    case .type2, .type4A, .mifareClassic: .typeA
    case .type3: .felica
    case .type4B: .typeB
    case .type5: .vicinity
    }
  }

  /// Whether a reader of this model finds such a tag.
  func isFound(by model: CardReaderModel) -> Bool { model.technologies.contains(technology) }

  /// Whether the tag can be read on a reader of this model.
  func isReadable(on model: CardReaderModel) -> Bool {
    guard isFound(by: model), let known = ReaderModel.find(vendor: model.vendor, product: model.product) else {
      return false
    }
    return known.types.contains(type) && (self != .mifareClassic || model.hasClassic)
  }
}

extension CardReaderModel {
  /// The models with an antenna.
  static var contactless: [CardReaderModel] { all.filter { $0.slots.first?.kind == .contactless } }
}

/// The bytes of hexadecimal digits, with spaces anywhere.
func hex(_ digits: String) throws -> [UInt8] {
  try #require(Hexadecimal.bytes(digits.filter { $0 != " " }), "not hexadecimal: \(digits)")
}
