import Daemon
import EventLoop
import TestKit
import Testing

@testable import ReaderProtocol
@testable import ReaderSimulator

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardCommandTests {
  private static let application: [UInt8] = [0xF0] + Array("TAGROUTE".utf8)

  // MARK: Class FF

  private static let places: [CardOperationTests.Place] = [
    .init(model: .acr1252U, kind: .type4A), .init(model: .acr122U, kind: .type4A),
    .init(model: .omnikey5022, kind: .type4B), .init(model: .acr1252U, kind: .type2),
    .init(model: .acr122U, kind: .type2), .init(model: .omnikey5022, kind: .type2),
    .init(model: .acr1252U, kind: .type3), .init(model: .acr1552U, kind: .type5),
    .init(model: .omnikey5427, kind: .type5), .init(model: .uTrust3700, kind: .type1),
    .init(model: .acr1252U, kind: .mifareClassic),
  ]

  /// Commands of class FF write to tags, load keys, and configure readers. They are not for the card. The bytes of a
  /// Type 2 tag's command may begin with FF, but then they go to the tag.
  @Test(arguments: places, ["FFD600040441424344", "FF82000006D3F7D3F7D3F7", "FFC20000028300", "FF00400400", "FF"])
  func `no command of a client reaches the reader as one for the reader`(
    place: CardOperationTests.Place, command: String
  ) async throws {
    let rig = try await CardReaderRig.inSession(place.model)
    let bytes = try uri("https://example.com")
    let (id, tag) = try await rig.finds(try place.kind.make(bytes))
    let before = await rig.readers.memory(of: id)
    let seen = await rig.commands(id).count
    let result = try await rig.perform(.transceive(try hex(command), timeout: 5000), tag)
    #expect(result.failure != nil, "\(result)")
    let sent = try hex(command)
    #expect(await rig.commands(id).dropFirst(seen).allSatisfy { $0 != sent })
    #expect(await rig.readers.memory(of: id) == before)
    #expect(try await rig.perform(.read, tag) == .message(bytes))
  }

  // MARK: Type 2

  @Test(arguments: [CardReaderModel.acr1252U, .acr122U, .acr1552U])
  func `raw commands reach a Type 2 tag through a reader that passes them on`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.inSession(model)
    let bytes = try uri("https://example.com")
    let (id, tag) = try await rig.finds(try .type2(.ntag215, message: bytes))
    let version = try await rig.transceive("60", tag)
    #expect(version == [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x11, 0x03])
    let memory = try #require(await rig.readers.memory(of: id))
    #expect(try await rig.transceive("3000", tag) == Array(memory[..<16]))
    #expect(try await rig.transceive("3A0007", tag) == Array(memory[..<32]))
    #expect(try await rig.transceive("A210 01020304", tag) == [0x0A])
    #expect(try await rig.transceive("3010", tag).prefix(4) == [1, 2, 3, 4])
    // The tag does not answer an invalid command, and works afterwards.
    #expect(try await rig.refusal("30F0", tag) == .timeout)
    #expect(try await rig.transceive("60", tag) == version)
    let long = [UInt8](repeating: 0x30, count: 300)
    #expect(try await rig.perform(.transceive(long, timeout: 5000), tag).failure == .tooLong)
    #expect(try await rig.perform(.read, tag) == .message(bytes))
  }

  @Test(arguments: [CardReaderModel.omnikey5022, .uTrust3700, .r502, .rcS300])
  func `other readers read and write pages, and refuse the rest without an exchange`(
    model: CardReaderModel
  ) async throws {
    let rig = try await CardReaderRig.inSession(model)
    let (id, tag) = try await rig.finds(try .type2(.ntag213, message: try uri("https://example.com")))
    let memory = try #require(await rig.readers.memory(of: id))
    #expect(try await rig.transceive("3000", tag) == Array(memory[..<16]))
    #expect(try await rig.transceive("A20F 01020304", tag) == [0x0A])
    #expect(try await rig.transceive("300C", tag).suffix(4) == [1, 2, 3, 4])
    let count = await rig.commands(id).count
    for command in ["60", "3A0007", "1BFFFFFFFF", "C2FF", "3C00"] {
      #expect(try await rig.refusal(command, tag) == .notSupported, "\(command)")
    }
    if model == .r502 { #expect(try await rig.refusal("3010", tag) == .notSupported) }
    #expect(await rig.commands(id).count == count)
  }

  // MARK: ISO-DEP

  @Test func `APDUs reach a card, and native commands do not`() async throws {
    let rig = try await CardReaderRig.inSession()
    let (_, card) = try await rig.finds(try .desfire(message: try uri("https://example.com")))
    // GetVersion, wrapped. The process must not send another command between the parts of the answer.
    #expect(try await rig.transceive("9060000000", card).suffix(2) == [0x91, 0xAF])
    #expect(try await rig.transceive("90AF000000", card).suffix(2) == [0x91, 0xAF])
    #expect(try await rig.transceive("90AF000000", card).suffix(2) == [0x91, 0x00])
    // pcscd passes on APDUs alone.
    #expect(try await rig.refusal("60", card) == .notSupported)
    #expect(try await rig.refusal("00A404", card) == .notSupported)
    #expect(try await rig.perform(.read, card) == .message(try uri("https://example.com")))
  }

  @Test(arguments: [CardReaderModel.acr1252U, .omnikey5022], [1, 100, 1000, 4000])
  func `a reader that takes extended APDUs gets them`(model: CardReaderModel, size: Int) async throws {
    let rig = try await CardReaderRig.inSession(
      model, TagSessionOptions(number: 1, applicationIdentifiers: [Self.application]))
    let (_, card) = try await rig.finds(.applicationCard())
    let data = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    #expect(try await rig.transceive(extended(data), card) == data + [0x90, 0x00])
  }

  @Test(arguments: [CardReaderModel.omnikey5427, .acr122U, .uTrust3700])
  func `a reader that takes short APDUs refuses extended ones`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.inSession(
      model, TagSessionOptions(number: 1, applicationIdentifiers: [Self.application]))
    let (id, card) = try await rig.finds(.applicationCard())
    let count = await rig.commands(id).count
    #expect(try await rig.perform(.transceive(extended([1, 2, 3]), timeout: 5000), card).failure == .notSupported)
    #expect(await rig.commands(id).count == count)
    // Data, and Le.
    #expect(try await rig.transceive("8010000003 010203 00", card) == [1, 2, 3, 0x90, 0x00])
  }

  /// The command that the card answers with its data.
  private func extended(_ data: [UInt8]) -> [UInt8] {
    let length = [UInt8(truncatingIfNeeded: data.count >> 8), UInt8(truncatingIfNeeded: data.count)]
    return [0x80, 0x10, 0x00, 0x00, 0x00] + length + data + [0x00, 0x00]
  }

  // MARK: Other kinds

  @Test(arguments: [CardReaderModel.acr1252U, .acr122U, .acr1552U, .rcS300])
  func `raw commands reach a FeliCa card`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.inSession(model, TagSessionOptions(number: 1, systemCodes: [0x0003]))
    let (_, card) = try await rig.finds(try .transitCard(idm: [1, 0x2E, 3, 4, 5, 6, 7, 8]))
    let history = SimulatedTag.transitHistory()
    let service: [UInt8] = [1, 0x0F, 0x09]
    if model == .rcS300 {
      // It only passes on some commands.
      #expect(try await rig.refusal("02 012E030405060708 010F09", card) == .notSupported)
    } else {
      #expect(try await rig.transceive([0x02] + card.idm + service, card) == [0x03] + card.idm + [1, 0, 0])
    }
    let blocks: [UInt8] = (0..<12).flatMap { [0x80, $0] }
    let answer = try await rig.transceive([0x06] + card.idm + service + [12] + blocks, card)
    #expect(answer == [0x07] + card.idm + [0, 0, 12] + history[..<12].flatMap { $0 })
    #expect(try await rig.transceive([0x00, 0x00, 0x03, 0x01, 0x00], card).prefix(9) == [0x01] + card.idm)
  }

  @Test func `requests reach a Type 5 tag through a reader that passes them on`() async throws {
    let rig = try await CardReaderRig.inSession(.acr1552U)
    let (id, tag) = try await rig.finds(try .type5(.slix2, message: try uri("https://example.com")))
    let memory = try #require(await rig.readers.memory(of: id))
    #expect(try await rig.transceive("022000", tag) == [0x00] + memory[..<4])
    #expect(try await rig.transceive("02230003", tag) == [0x00] + memory[..<16])
    #expect(try await rig.transceive("022110 AABBCCDD", tag) == [0x00])
    #expect(try await rig.transceive("022010", tag) == [0x00, 0xAA, 0xBB, 0xCC, 0xDD])
    #expect(try await rig.transceive("022210", tag) == [0x00])
    // An error of the tag is an answer.
    #expect(try await rig.transceive("022110 01020304", tag) == [0x01, 0x12])
    #expect(try await rig.transceive("022050", tag) == [0x01, 0x10])
    // A command of the maker that the tag does not know: it is silent, and works afterwards.
    #expect(try await rig.refusal("02AB04", tag) == .timeout)
    #expect(try await rig.transceive("022010", tag) == [0x00, 0xAA, 0xBB, 0xCC, 0xDD])
  }
}

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardOperationTests {
  struct Place: Sendable, CustomTestStringConvertible {
    let model: CardReaderModel
    let kind: TagKind
    /// Why the tag cannot be made read-only on this reader; nil if it can.
    var locking: ReaderOperationFailure?

    var testDescription: String { "\(kind) on \(model.name)" }
  }

  static let places: [Place] = [
    Place(model: .acr1252U, kind: .type2), Place(model: .acr122U, kind: .type2),
    // Without raw commands, the end of the memory shows the model.
    Place(model: .omnikey5022, kind: .type2),
    Place(model: .acr1252U, kind: .type3), Place(model: .acr122U, kind: .type3),
    Place(model: .uTrust3700, kind: .type3),
    Place(model: .rcS300, kind: .type3), Place(model: .acr1552U, kind: .type3),
    Place(model: .acr1252U, kind: .type4A), Place(model: .omnikey5427, kind: .type4A),
    Place(model: .acr122U, kind: .type4B), Place(model: .omnikey5022, kind: .type4B),
    Place(model: .acr122U, kind: .type1), Place(model: .uTrust3700, kind: .type1),
    Place(model: .acr1252U, kind: .mifareClassic), Place(model: .acr122U, kind: .mifareClassic),
    Place(model: .r502, kind: .mifareClassic), Place(model: .uTrust3700, kind: .mifareClassic),
    Place(model: .acr1552U, kind: .type5),
    // This reader does not know the command that locks a block.
    Place(model: .omnikey5427, kind: .type5, locking: .notSupported),
  ]

  @Test(arguments: places) func `each operation works on each kind of tag`(place: Place) async throws {
    try await CardReaderRig.inSession(place.model).performsEachOperation(on: place.kind, locking: place.locking)
  }

  @Test func `a reader that refuses pages does not write behind them`() async throws {
    let rig = try await CardReaderRig.inSession(.r502)
    let (id, tag) = try await rig.finds(try .type2(.ntag213, message: try uri("https://example.com")))
    let before = await rig.readers.memory(of: id)
    let long = try uri("https://example.com/" + String(repeating: "x", count: 60))
    let result = try await rig.perform(.write(long, verify: true), tag)
    #expect(result.failure == .notSupported || result.failure == .tooLong, "\(result)")
    #expect(await rig.readers.memory(of: id) == before)
    #expect(try await rig.perform(.read, tag) == .message(try uri("https://example.com")))
  }

  @Test func `operations fail with the reason if a card is damaged or not NDEF`() async throws {
    try await CardReaderRig.inSession().refusesOperationsWithoutMessage()
  }

  /// The card has another identifier after each selection.
  @Test(arguments: [TagKind.type4A, .type4B])
  func `a card with a random identifier stays one placement`(kind: TagKind) async throws {
    let rig = try await CardReaderRig.inSession()
    let bytes = try uri("https://example.com")
    let tag: SimulatedTag =
      switch kind {
      case .type4B: try .type4B(message: bytes, pupi: .random)
      default: try .type4(message: bytes, uid: .random)
      }
    let (id, found) = try await rig.finds(tag)
    #expect(try await rig.perform(.read, found) == .message(bytes))
    // After a failure, the process selects the card again.
    await rig.add(.silence())
    #expect(try await rig.perform(.query, found).failure == .timeout)
    #expect(try await rig.perform(.read, found) == .message(bytes))
    #expect(await rig.powerUps(id) > 1)
    #expect(rig.reported.count == 1)
    try await rig.takeAway(id, found)
  }

  @Test func `operations are performed one after another`() async throws {
    try await CardReaderRig.inSession().performsInOrder()
  }

  /// One late answer makes each operation long enough to report progress.
  @Test func `long operations report their progress`() async throws {
    let rig = try await CardReaderRig.inSession()
    var options = Type4Options()
    options.fileSize = 8192
    let bytes = message(ofSize: 7000)
    let (_, card) = try await rig.finds(try .type4(message: [], options: options))
    for (request, operation) in [(7, ReaderOperation.write(bytes, verify: true)), (8, .read)]
      as [(UInt64, ReaderOperation)]
    {
      await rig.add(.hold(command: 20))
      await rig.ask(operation, card, request: request)
      try await rig.isHolding()
      rig.timers.schedule(after: .milliseconds(400)) { [readers = rig.readers, slot = rig.slot] in
        Task { await readers.release(slot) }
      }
      #expect(try await rig.result(request) == (request == 7 ? .done : .message(bytes)))
      let progress = rig.seen.compactMap { if case .progress(request, let bytes) = $0 { bytes } else { nil } }
      #expect(!progress.isEmpty && progress == progress.sorted() && (progress.last ?? 0) <= 7100, "\(progress)")
    }
  }
}
