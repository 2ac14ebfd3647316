import NDEF
import Rig
import Testing

/// Properties of every message, tested with random messages. A failure names its seed.
@Suite struct RoundTripTests {
  static let seeds = UInt64(0)..<200

  @Test(arguments: seeds) func `a message is the same after encoding and decoding`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let message = randomMessage(using: &random)
    for options in [
      .default, NDEFEncodingOptions(shortRecords: false), NDEFEncodingOptions(chunkSize: 1 + Int(random.next() % 300)),
      NDEFEncodingOptions(shortRecords: false, chunkSize: 64),
    ] {
      #expect(try NDEFMessage(decoding: message.encoded(options)) == message)
    }
  }

  @Test(arguments: seeds) func `the default encoding is the shortest`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let message = randomMessage(using: &random)
    let shortest = try message.encoded().count
    #expect(try message.encoded(NDEFEncodingOptions(shortRecords: false)).count >= shortest)
    #expect(try message.encoded(NDEFEncodingOptions(chunkSize: 16)).count >= shortest)
  }

  /// Damaged bytes decode to a message that survives another round trip, or are rejected at an offset within them.
  @Test(arguments: seeds) func `damaged bytes are decoded or rejected`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let original = try randomMessage(using: &random).encoded()
    for _ in 0..<40 {
      let damaged = damage(original, using: &random)
      let message: NDEFMessage
      do {
        message = try NDEFMessage(decoding: damaged)
      } catch {
        #expect((0...damaged.count).contains(error.offset), "\(error) in \(damaged)")
        continue
      }
      #expect(try NDEFMessage(decoding: message.encoded()) == message)
      #expect(try message.encoded().count <= damaged.count)
      for record in message.records { try checkViews(of: record) }
    }
  }

  @Test(arguments: seeds) func `random payloads are decoded or rejected`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for type in ["U", "T", "Sp"] {
      try checkViews(of: .wellKnown(type, payload: randomBytes(Int(random.next() % 40), using: &random)))
    }
  }

  /// A view that is written as a record and read back is unchanged. A text without a language is not written.
  private func checkViews(of record: NDEFRecord) throws {
    if let uri = try? URIRecord(record) { #expect(try URIRecord(uri.record()) == uri) }
    if let text = try? TextRecord(record), !text.language.isEmpty { #expect(try TextRecord(text.record()) == text) }
    if let poster = try? SmartPosterRecord(record), poster.titles.allSatisfy({ !$0.language.isEmpty }) {
      #expect(try SmartPosterRecord(poster.record()) == poster)
    }
  }

  private func randomMessage(using random: inout SeededGenerator) -> NDEFMessage {
    NDEFMessage(records: (0...Int(random.next() % 5)).map { _ in randomRecord(using: &random) })
  }

  private func randomRecord(using random: inout SeededGenerator) -> NDEFRecord {
    let format = TypeNameFormat(rawValue: UInt8(random.next() % 6)) ?? .unknown
    guard format != .empty else { return .empty }
    let lengths = [0, 1, 2, 17, 254, 255, 256, 257, 3000]
    let payload = randomBytes(lengths[Int(random.next() % 9)], using: &random)
    let known = [URIRecord.type, TextRecord.type, SmartPosterRecord.type]
    if format == .wellKnown { return .wellKnown(known[Int(random.next() % 3)], payload: payload) }
    return NDEFRecord(
      typeNameFormat: format,
      type: format == .unknown ? [] : randomBytes(1 + Int(random.next() % 255), using: &random),
      id: random.next() % 2 == 0 ? [] : randomBytes(Int(random.next() % 256), using: &random),
      payload: payload)
  }

  private func randomBytes(_ count: Int, using random: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  private func damage(_ bytes: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
    var damaged = bytes
    // Half of the damage is in the first bytes, because most rules are about the header.
    let reach = random.next() % 2 == 0 ? min(8, damaged.count) : damaged.count
    let place = Int(random.next() % UInt64(max(1, reach)))
    switch random.next() % 4 {
    case 0: damaged[place] ^= 1 << UInt8(random.next() % 8)
    case 1: damaged[place] = UInt8(truncatingIfNeeded: random.next())
    case 2: damaged.removeSubrange(place...)
    default: damaged.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
    }
    return damaged
  }
}
