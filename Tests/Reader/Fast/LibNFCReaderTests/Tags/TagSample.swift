import NDEF
import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

/// A kind of tag for walks, as `make` makes it with a message.
struct TagSample: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let modulation: Modulation
  /// The problem of a tag with an unfinished write, if its specification has a flag for that.
  var unfinished: String?
  let make: @Sendable (_ message: [UInt8]) throws -> SimulatedTag

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

/// A message that encodes to exactly `size` bytes: 0, or at least 3. For 1 and 2 the bytes are not a message.
func ndefMessage(ofSize size: Int, filledWith byte: UInt8 = 0x41) -> [UInt8] { ndefMessage(ofSize: size) { _ in byte } }

/// A message like `ndefMessage(ofSize:)`, but no piece of it equals the piece before it in a transfer. Its payload
/// repeats after a prime number of bytes.
func variedMessage(ofSize size: Int) -> [UInt8] { ndefMessage(ofSize: size) { UInt8($0 % 251) } }

private func ndefMessage(ofSize size: Int, _ byte: @escaping (Int) -> UInt8) -> [UInt8] {
  let record: (Int, Bool) -> [UInt8]? = { payload, isShort in
    guard payload >= 0, !isShort || payload < 0x100 else { return nil }
    let length = UInt32(payload)
    let lengthBytes =
      isShort ? [UInt8(payload)] : (0..<4).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
    return [isShort ? 0xD1 : 0xC1, 0x01] + lengthBytes + [UInt8(ascii: "T")] + (0..<payload).map(byte)
  }
  switch size {
  case 0: return []
  case 1, 2: return (0..<size).map(byte)
  case 3: return [0xD0, 0x00, 0x00]
  default: return record(size - 4, true) ?? record(size - 7, false) ?? []
  }
}

/// Expects the content that is read from a tag with these bytes as its message.
func expect(_ content: TagContent, holds bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
  switch content {
  case .message(let message): #expect(message == bytes, sourceLocation: sourceLocation)
  case .problem(let problem):
    let isMessage = (try? NDEFMessage(decoding: bytes)) != nil
    let expected: TagProblem.Code = bytes.isEmpty ? .empty : .damaged
    #expect(!isMessage && problem.code == expected, "\(problem)", sourceLocation: sourceLocation)
  }
}

/// The problem as text; nil if there is a message.
func problem(of content: TagContent) -> String? {
  if case .problem(let problem) = content { problem.description } else { nil }
}
