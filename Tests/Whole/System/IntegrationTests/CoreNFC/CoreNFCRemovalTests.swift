import ReaderSimulator
import TestKit
import Testing

@testable import CoreNFC
@testable import CoreNFCSystemTests

/// A tag is taken away during calls that exchange in different ways: the handler gets code 100, once.
///
/// 100 is right for every call, because the reader process looks for the tag before it reports an error. Code 102 is
/// for a tag that is still there. `CoreNFCMiFareTests` and `CoreNFCFeliCaTests` have such tags.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CoreNFCRemovalTests {
  enum Call: String, Sendable {
    case queryNDEFStatus, readNDEF, writeNDEF, writeLock
    case sendMiFareCommand
    case sendCommand
    case polling, readWithoutEncryption, writeWithoutEncryption

    /// During which exchange with the tag it is taken away. A write then has changed a part of the memory.
    var exchange: Int {
      switch self {
      case .readNDEF: 2
      case .writeNDEF: 4
      default: 1
      }
    }

    /// Calls the tag, which has to have this call. `done` gets the error.
    func start(_ tag: NFCTag, _ done: @escaping Completion) {
      let (history, block) = (Data([0x0F, 0x09]), Data([0x80, 0x00]))
      switch self {
      case .queryNDEFStatus: tag.asNDEF?.queryNDEFStatus { _, _, error in done(error) }
      case .readNDEF: tag.asNDEF?.readNDEF { _, error in done(error) }
      case .writeNDEF: tag.asNDEF?.writeNDEF(.filled(40), completionHandler: done)
      case .writeLock: tag.asNDEF?.writeLock(completionHandler: done)
      case .sendMiFareCommand:
        tag.asMiFare?.sendMiFareCommand(commandPacket: Data([0x30, 0x04])) { _, error in done(error) }
      case .sendCommand:
        tag.asISO7816?.sendCommand(apdu: CoreNFCCardTests.readFile) { _, _, _, error in done(error) }
      case .polling:
        tag.asFeliCa?.polling(systemCode: Data([0x00, 0x03]), requestCode: .noRequest, timeSlot: .max1) {
          _, _, error in done(error)
        }
      case .readWithoutEncryption:
        tag.asFeliCa?.readWithoutEncryption(serviceCodeList: [history], blockList: [block]) { _, _, _, error in
          done(error)
        }
      case .writeWithoutEncryption:
        tag.asFeliCa?.writeWithoutEncryption(
          serviceCodeList: [history], blockList: [block], blockData: [Data(count: 16)]
        ) { _, _, error in done(error) }
      }
    }
  }

  enum Kind: String, CaseIterable {
    case miFare, iso7816, feliCa

    var configuration: NFCTagReaderSession.Configuration {
      switch self {
      case .miFare: .init(pollingOption: .iso14443)
      case .iso7816: CoreNFCCardTests.configuration
      case .feliCa: .init(pollingOption: .iso18092, feliCaSystemCodes: ["0003"])
      }
    }

    var calls: [Call] {
      switch self {
      case .miFare: [.queryNDEFStatus, .readNDEF, .writeNDEF, .writeLock, .sendMiFareCommand]
      case .iso7816: [.queryNDEFStatus, .sendCommand]
      case .feliCa: [.polling, .readWithoutEncryption, .writeWithoutEncryption]
      }
    }

    func card() throws -> SimulatedTag {
      switch self {
      case .miFare: return try .type2(.ntag213, message: Tag(1).message)
      case .iso7816: return try CoreNFCCardTests.card()
      case .feliCa: return try .transitCard()
      }
    }

    /// Sends a command that the tag answers. The reader process then does not look for other tags.
    func command(_ tag: NFCTag) async throws {
      switch tag {
      case .miFare(let tag): _ = try await tag.sendMiFareCommand(commandPacket: Data([0x60]))
      case .iso7816(let tag): _ = try await tag.sendCommand(apdu: CoreNFCCardTests.selectFile)
      case .feliCa(let tag): _ = try await tag.requestResponse()
      case .iso15693: throw RigError("the simulated PN532 finds no such tag")
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `a tag that is taken away fails the call once, and the next tag is found`(kind: Kind) async throws {
    let place = try await CoreNFCDesktop(
      starter: "`a tag that is taken away fails the call once, and the next tag is found`_\(kind)")
    for call in kind.calls { try await takeAway(kind, during: call, place) }
    try await place.scansAgain()
  }

  private func takeAway(_ kind: Kind, during call: Call, _ place: CoreNFCDesktop) async throws {
    let name = call.rawValue
    let connected = try await place.connect(to: kind.card(), kind.configuration)
    let (session, tag) = (connected.session, connected.tag)
    try await kind.command(tag)
    // If the machine is slow, a presence check of the reader process may come before the call. The code is the same.
    await place.reader.add(.removal(exchange: call.exchange))
    let answers = Answers()
    call.start(tag, answers.handler(name))
    #expect(try await place.next(answers) == "\(name) 100")
    #expect(await place.reader.strikes == 1, "\(name)")
    try await place.unavailable(tag)
    #expect(session.connectedTag == nil)
    call.start(tag, answers.handler("later"))
    #expect(try await place.next(answers) == "later 100")
    #expect(await code { try await session.connect(to: tag) } == 100)

    // The tag is put back, and is another one for the session.
    await place.reader.clearFaults()
    let card = try #require(await place.reader.remove(connected.placement))
    session.restartPolling()
    await place.reader.place(card)
    let next = try await place.tag(connected.delegate)
    #expect(next.isAvailable && !tag.isAvailable, "\(name)")
    try await session.connect(to: next)
    try await kind.command(next)
    // Nothing was locked.
    if call == .writeLock { #expect(try await next.asNDEF?.queryNDEFStatus().0 == .readWrite) }
    try await place.finish(connected)
    #expect(await answers.rest().isEmpty, "\(name)")
    await place.reader.removeAll()
  }
}
