import Names
import ReaderModels
import TestKit
import Testing

@testable import ReaderSimulator

/// A message that encodes to exactly `size` bytes, at least 8. No piece of it equals the piece before it in a
/// transfer: its payload repeats after a prime number of bytes.
func message(ofSize size: Int) -> [UInt8] {
  let count = size - 7
  let length = (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
  return [0xC1, 0x01] + length + [UInt8(ascii: "T")] + (0..<count).map { UInt8($0 % 251) }
}

extension TagKind {
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
