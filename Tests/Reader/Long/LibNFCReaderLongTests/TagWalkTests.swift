import Tags
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests
@testable import ReaderSimulator

/// Tags that are torn away while they program the bytes of one exchange.
@Suite struct WriteTearTests {
  static let samples: [(TagSample, Int, Int)] = [
    (.type1(.topaz96), 20, 0), (.type1(.topaz96), 6, 8), (.type1(.topaz512), 20, 40), (.type1(.topaz512), 260, 12),
    (.type1Dynamic, 30, 40), (.type2(.ultralight), 20, 24), (.type2(.ntag213, hasLockControl: true), 20, 12),
    (.type2(.ntag215), 0, 12), (.type2(.ntag215), 300, 0), (.type3(.liteS), 40, 20), (.type3(.standard), 150, 40),
    (.type4(.typeA, read: 246, write: 200, file: 400), 280, 300),
    (.type4(.typeA, version: 3, read: 246, write: 200, file: 400), 300, 20),
    (.type4(.typeB, read: 246, write: 200, file: 400), 20, 12),
  ]

  @Test(arguments: samples) func `a tag holds no other message`(tag: TagSample, sizes old: Int, new: Int) throws {
    try Self.expectNoOtherMessage(tag, old, new)
  }

  /// Bytes that the tag already holds are not written, so the length matters most.
  @Test(arguments: 0...3, [(12, 16), (250, 256)])
  func `a Type 2 tag holds no other message wherever its length is`(nulls: Int, sizes: (old: Int, new: Int)) throws {
    try Self.expectNoOtherMessage(.type2(nulls: nulls), sizes.old, sizes.new, filledWith: 0x41)
  }

  /// Bytes that were not programmed keep their old values. A memory that erases the block first could hold the length
  /// and the first bytes of the message, followed by zeros. The layout of the specification cannot rule that out.
  @Test(arguments: [(0, 20), (60, 0), (40, 30), (300, 12)])
  func `a MIFARE Classic tag holds no other message`(old: Int, new: Int) throws {
    try Self.expectNoOtherMessage(.classic(.classic1K), old, new, remainders: [.old])
  }

  private static func expectNoOtherMessage(
    _ tag: TagSample, _ old: Int, _ new: Int, filledWith byte: UInt8 = 0x42,
    remainders: [WriteTear.Remainder] = WriteTear.Remainder.allCases
  ) throws {
    let (old, new) = (ndefMessage(ofSize: old), ndefMessage(ofSize: new, filledWith: byte))
    let report = try tag.walk(old).tearingWrites(of: new, over: old, remainders: remainders)
    #expect(report.findings == [])
    #expect(report.exchanges > 0)
  }
}

/// Each kind of radio fault at every exchange of other kinds of tags than `RadioFaultTests` has.
@Suite struct RadioFaultWalkTests {
  /// Kinds of tags, with the size of their messages. Reading or writing such a message takes several exchanges.
  private static let samples: [(TagSample, Int)] = [
    (.type1(.topaz96), 12), (.type1(.topaz512), 120), (.type2(.ultralight), 40), (.sectors(before: 20), 40),
    (.type3(.standardWithSeveralSystems, .felica424), 400), (.type4(.typeB), 150),
    (.classic(.mini, sectors: [1, 2]), 60), (.classic(.classic4K, sectors: [15, 17]), 60),
  ]

  @Test(arguments: samples) func `the attempt after a fault has the right result`(tag: TagSample, size: Int) throws {
    let (message, old) = (ndefMessage(ofSize: size), ndefMessage(ofSize: size - 3, filledWith: 0x42))
    let faults = TearWalk.Accident.radioFaults
    #expect(try tag.walk(message, faults).reading(message).findings == [])
    #expect(try tag.walk(old, faults).writing(message, over: old).findings == [])
    #expect(try tag.walk(message, faults).locking(message).findings == [])
  }
}

/// Every claim of a container, on every model and on copies of it by another manufacturer, and every place that a
/// control TLV can name.
@Suite struct Type2ClaimTests {
  private let bounds = Type2Bounds(claims: Array(UInt8.min...UInt8.max), step: 1)

  @Test(arguments: Type2Bounds.models)
  func `with any claim, only the memory of the user changes`(model: SimulatedType2Model) throws {
    try bounds.checkControls(model)
    for model in [model, model.copied(knowsVersion: true), model.copied(knowsVersion: false)] {
      try bounds.checkWrites(model)
      try bounds.checkLocks(model)
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `with any claim and control TLVs, only the memory of the user changes`(seed: UInt64) throws {
    try bounds.checkSample(1_000, seed: seed)
  }
}

/// Tears a tag away during each write, while its memory programs the page or block of one exchange.
///
/// This tries every number of new bytes. The other bytes hold each remainder in turn: the old values, and those of a
/// memory that erases before it programs.
extension TearWalk {
  /// Checks that a read afterwards returns the old message, the new one or none. The length of the old one may be too
  /// great by then, if zeros follow.
  ///
  /// `remainders` are the possible values of bytes that were not programmed. Returns the number of exchanges that
  /// write, and all violations.
  func tearingWrites(
    of message: [UInt8], over old: [UInt8], remainders: [WriteTear.Remainder] = WriteTear.Remainder.allCases
  ) throws -> Report {
    let reader = try OpenReader()
    var report = Report()
    // Use one tag for all attempts. A new UID would look like a written byte.
    let original = try makeTag()
    let before = original.memory
    var seen: Set<[UInt8]> = [before]
    var undone = before
    for number in 1...Self.most {
      // `writing` checks the memory after complete exchanges, so it is not read here.
      guard let (_, done) = try tear(original, reader, message, .removal(exchange: number, heard: true)) else {
        break
      }
      defer { undone = done }
      guard done != undone else { continue }
      seen.formUnion([undone, done])
      report.exchanges += 1
      for remainder in remainders {
        for bytes in Self.prefixes {
          let fault = Fault.tear(exchange: number, WriteTear(bytes: bytes, remainder: remainder))
          guard let (tag, memory) = try tear(original, reader, message, fault), memory != done else { break }
          guard seen.insert(memory).inserted else { continue }
          let content = try reader.withTag(tag, modulation) { try $0.tag.readNDEF(over: &$0) }
          if case .problem = content { continue }
          if Self.holds(content, message) || Self.holds(content, old) { continue }
          report.findings.append(
            "a tag torn away at exchange \(number) with \(bytes) bytes new, \(remainder), holds \(content)")
        }
      }
    }
    if report.exchanges == 0 { report.findings.append("no exchange wrote to the tag") }
    return report
  }

  /// Each number of bytes in a block, and some numbers of bytes in an APDU.
  private static let prefixes = Array(0...16) + [17, 48, 100, 200, 300]

  /// Returns the tag that was torn away, and its memory; nil if the write ended before the fault.
  private func tear(
    _ original: SimulatedTag, _ reader: OpenReader, _ message: [UInt8], _ fault: Fault
  ) throws -> (tag: SimulatedTag, memory: [UInt8])? {
    // `writing` checks the failure itself.
    let attempt = try reader.attempt(on: original, modulation, fault) { try $0.tag.writeNDEF(message, over: &$0) }
    return attempt.isStruck ? (attempt.tag, attempt.tag.memory) : nil
  }
}
