import ReaderSimulator
import Testing

@testable import LibNFCReader

/// A kind of tag for walks, as `make` makes it with a message.
struct TagSample: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let modulation: Modulation
  /// The problem of a tag with an unfinished write, if its specification has a flag for that.
  var unfinished: String?
  let make: @Sendable (_ message: [UInt8]) throws -> SimulatedTag

  /// A walk over a tag with this message.
  func walk(
    _ message: [UInt8], _ accidents: [TearWalk.Accident] = TearWalk.Accident.tearing, stride: Int = 1
  ) -> TearWalk {
    TearWalk(modulation, unfinished: unfinished, accidents: accidents, stride: stride) { try make(message) }
  }

  static func type1(_ model: Type1Model) -> TagSample {
    TagSample(testDescription: "Type 1, \(model.name)", modulation: .jewel) { try .type1(model, message: $0) }
  }

  /// The NDEF TLV block lies in memory that is written in blocks of eight bytes.
  static let type1Dynamic = TagSample(testDescription: "Type 1, behind static memory", modulation: .jewel) {
    let other: [UInt8] = [0xFD, 120] + [UInt8](repeating: 7, count: 120)
    let controls: [UInt8] = [0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03]
    return try .type1(.topaz512, contents: controls + other + tlv($0))
  }

  static func type2(_ model: SimulatedType2Model, hasLockControl: Bool = false) -> TagSample {
    TagSample(testDescription: "Type 2, \(model.name)\(hasLockControl ? ", lock control" : "")", modulation: .typeA) {
      try .type2(model, message: $0, hasLockControl: hasLockControl)
    }
  }

  /// The length lies anywhere in its page or crosses two pages.
  static func type2(nulls: Int) -> TagSample {
    TagSample(testDescription: "Type 2, after \(nulls) bytes", modulation: .typeA) {
      try .type2(.ntag215, contents: [UInt8](repeating: 0, count: nulls) + tlv($0))
    }
  }

  /// The message begins `before` bytes before the border of two sectors, behind a proprietary TLV block.
  static func sectors(before: Int) -> TagSample {
    TagSample(testDescription: "Type 2, \(before) bytes before a sector", modulation: .typeA) {
      let skipped = 1024 - 16 - before - 4
      let other = [0xFD, 0xFF, UInt8(skipped >> 8), UInt8(skipped & 0xFF)] + [UInt8](repeating: 0x55, count: skipped)
      return try .type2(.ntagI2C2k, contents: other + tlv($0))
    }
  }

  static func type3(_ model: Type3Options.Model, _ modulation: Modulation = .felica212) -> TagSample {
    TagSample(
      testDescription: "Type 3, \(model)", modulation: modulation,
      unfinished: "damaged: the tag was removed while it was written"
    ) { try .type3(message: $0, idm: [0x01, 0x2E, 1, 2, 3, 4, 5, 6], options: Type3Options(model)) }
  }

  /// A card that everyone may lock.
  static func type4(
    _ modulation: Modulation, version: Int = 2, read: Int = 59, write: Int = 52, file: Int? = nil
  ) -> TagSample {
    TagSample(testDescription: "\(modulation), mapping \(version)", modulation: modulation) { message in
      let options = Type4Options {
        ($0.mappingVersion, $0.maximumRead, $0.maximumWrite) = (version, read, write)
        ($0.fileSize, $0.containerIsWritable) = (file, true)
      }
      return modulation == .typeB
        ? try .type4B(message: message, pupi: .fixed([1, 2, 3, 4]), options: options)
        : try .type4(message: message, uid: .fixed([4, 1, 2, 3, 4, 5, 6]), options: options)
    }
  }

  static func classic(_ model: MIFAREClassicModel, sectors: [Int]? = nil) -> TagSample {
    TagSample(testDescription: model.name, modulation: .typeA) {
      try .mifareClassic(model, message: $0, sectors: sectors)
    }
  }

  /// The length, of one byte or three, is at the end of a block, at the start of the next one, or across both.
  static func classic(_ model: MIFAREClassicModel, nulls: Int) -> TagSample {
    TagSample(testDescription: "\(model.name), after \(nulls) bytes", modulation: .typeA) {
      try .mifareClassic(model, contents: [UInt8](repeating: 0, count: nulls) + tlv($0))
    }
  }

  private static func tlv(_ message: [UInt8]) -> [UInt8] {
    let count = message.count
    return [0x03] + (count < 255 ? [UInt8(count)] : [0xFF, UInt8(count >> 8), UInt8(count & 0xFF)]) + message + [0xFE]
  }
}
