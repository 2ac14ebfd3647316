import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

/// Type 4 cards on the simulated chip, over Type A and Type B of ISO/IEC 14443.
@Suite struct Type4AccessTests {
  private static func card(
    _ modulation: Modulation, _ message: [UInt8], _ options: Type4Options = Type4Options()
  ) throws -> SimulatedTag {
    modulation == .typeB
      ? try .type4B(message: message, pupi: .fixed([1, 2, 3, 4]), options: options)
      : try .type4(message: message, uid: .fixed([4, 1, 2, 3, 4, 5, 6]), options: options)
  }

  @Test(arguments: [Modulation.typeA, .typeB], [15, 59, 246, 255, 256, 1_000])
  func `reading takes four APDUs and one for each chunk of MLe bytes`(modulation: Modulation, mostRead: Int) throws {
    let options = Type4Options { ($0.maximumRead, $0.fileSize) = (mostRead, 2_000) }
    let atOnce = min(mostRead, 246)
    let reader = try OpenReader()
    for size in [0, 3, atOnce - 2, atOnce - 1, atOnce * 2 - 2, 1_998] {
      let message = ndefMessage(ofSize: size)
      let id = reader.place(try Self.card(modulation, message, options))
      var channel = try reader.select(modulation)
      _ = reader.takeCounters()
      expect(try channel.tag.readNDEF(over: &channel), holds: message)
      // Each APDU is one command of the chip, for any number of frames.
      #expect(reader.takeCounters().commands == 4 + max(1, (size + 2 + atOnce - 1) / atOnce), "\(size) bytes")
      _ = reader.remove(id)
    }
  }

  @Test(arguments: [Modulation.typeA, .typeB], [(59, 52), (256, 255)])
  func `a message beyond 32 KiB is read and written with mapping 3`(
    modulation: Modulation, limits: (read: Int, write: Int)
  ) throws {
    let options = Type4Options {
      ($0.maximumRead, $0.maximumWrite) = limits
      ($0.mappingVersion, $0.fileSize) = (3, 40_000)
    }
    let message = ndefMessage(ofSize: 39_996)
    let reader = try OpenReader()
    let id = reader.place(try Self.card(modulation, [], options))
    var channel = try reader.select(modulation)
    #expect(try channel.tag.queryNDEF(over: &channel).capacity == 39_996)
    try channel.tag.writeNDEF(message, over: &channel)
    #expect(reader.memory(of: id).map { Array($0[4...]) } == message)
    expect(try channel.tag.readNDEF(over: &channel), holds: message)
  }

  @Test(arguments: [Modulation.typeA, .typeB], [4, 15, 52, 255, 600])
  func `writing takes six APDUs and one for each chunk of MLc bytes`(modulation: Modulation, mostWritten: Int) throws {
    let options = Type4Options { ($0.maximumRead, $0.maximumWrite, $0.fileSize) = (256, mostWritten, 1_000) }
    let atOnce = min(mostWritten, 245)
    let reader = try OpenReader()
    _ = reader.place(try Self.card(modulation, ndefMessage(ofSize: 40), options))
    var channel = try reader.select(modulation)
    for size in [0, 1, 4, atOnce, atOnce + 1, 998] where size <= 998 {
      let message = ndefMessage(ofSize: size)
      _ = reader.takeCounters()
      try channel.tag.writeNDEF(message, over: &channel)
      #expect(reader.takeCounters().commands == 5 + (size == 0 ? 0 : 1 + (size + atOnce - 1) / atOnce), "\(size) bytes")
      expect(try channel.tag.readNDEF(over: &channel), holds: message)
    }
  }

  @Test(arguments: [Modulation.typeA, .typeB])
  func `a card that does not allow it is not locked`(modulation: Modulation) throws {
    let message = ndefMessage(ofSize: 40)
    let reader = try OpenReader()
    _ = reader.place(try Self.card(modulation, message))
    var channel = try reader.select(modulation)
    #expect(
      throws: TagWriteError.cannotLock(
        "the card lets only its owner make it read-only, with keys that are not known here (it answered 6982)")
    ) { try channel.tag.lockNDEF(over: &channel) }
    expect(try channel.tag.readNDEF(over: &channel), holds: message)
  }

  @Test(arguments: [Modulation.typeA, .typeB])
  func `a bank card is reported as not NDEF`(modulation: Modulation) throws {
    let reader = try OpenReader()
    _ = reader.place(modulation == .typeA ? .paymentCard() : .paymentCardB())
    var channel = try reader.select(modulation)
    _ = reader.takeCounters()
    #expect(
      try problem(of: channel.tag.readNDEF(over: &channel))
        == "not NDEF: an ISO/IEC 14443-4 card without an NDEF application, such as a payment or identity card")
    #expect(reader.takeCounters().commands == 2)
    #expect(throws: TagWriteError.self) { try channel.tag.writeNDEF([], over: &channel) }
    #expect(throws: TagWriteError.self) { try channel.tag.lockNDEF(over: &channel) }
  }

  @Test(arguments: [Modulation.typeA, .typeB])
  func `a card that requests more time is read and written`(modulation: Modulation) throws {
    let options = Type4Options { ($0.maximumRead, $0.maximumWrite, $0.timeExtensions) = (200, 200, 3) }
    let message = ndefMessage(ofSize: 150)
    let reader = try OpenReader()
    _ = reader.place(try Self.card(modulation, message, options))
    var channel = try reader.select(modulation)
    expect(try channel.tag.readNDEF(over: &channel), holds: message)
    let other = ndefMessage(ofSize: 120)
    try channel.tag.writeNDEF(other, isVerifying: true, over: &channel)
  }

  @Test(arguments: [Modulation.typeA, .typeB])
  func `the presence check notices that a card was removed`(modulation: Modulation) throws {
    let reader = try OpenReader()
    let id = reader.place(try Self.card(modulation, []))
    var channel = try reader.select(modulation)
    #expect(try reader.device.isCardPresent())
    try channel.reselect()
    #expect(try reader.device.isCardPresent())
    _ = reader.remove(id)
    #expect(try !reader.device.isCardPresent())
  }

}
