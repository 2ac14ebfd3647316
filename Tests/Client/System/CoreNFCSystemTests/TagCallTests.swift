import Bus
import Names
import TestKit
import Testing

@testable import CoreNFC

@Suite(.timeLimit(.minutes(5))) struct TagCallTests {
  /// A session with one tag on the reader, which is connected unless said otherwise.
  private struct Call {
    let place: Place
    let recorder = TagRecorder()
    let session: NFCTagReaderSession
    let tag: any NFCMiFareTag

    init(_ card: SessionCard = SessionCard(), connected: Bool = true, starter: String = #function) async throws {
      place = try await Place(starter: starter)
      session = NFCTagReaderSession(configuration: .init(pollingOption: .iso14443), delegate: recorder)
      try await place.daemon.place(card)
      place.begin(session)
      let found = try #require(await recorder.nextTags().first)
      guard case .miFare(let tag) = found else { throw NFCReaderError(.readerErrorInvalidParameter) }
      self.tag = tag
      if connected { try await session.connect(to: found) }
    }

    /// The code of each kind of call, and of a connection.
    func codes() async -> [Int?] {
      let message = NFCNDEFMessage(records: [])
      return [
        await code { _ = try await tag.queryNDEFStatus() }, await code { _ = try await tag.readNDEF() },
        await code { try await tag.writeNDEF(message) }, await code { try await tag.writeLock() },
        await code { _ = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 4])) },
      ]
    }
  }

  /// Programs leave the call of `connect(to:)` out.
  @Test func `a call connects to the only tag`() async throws {
    let call = try await Call(connected: false)
    #expect(call.session.connectedTag == nil)
    #expect(await code { _ = try await call.tag.queryNDEFStatus() } == nil)
    guard case .miFare(let connected)? = call.session.connectedTag else { throw RigError("no tag is connected") }
    #expect(connected === call.tag)
    call.session.invalidate()
    _ = await call.recorder.rest()
  }

  @Test func `a tag that is gone fails calls and connections`() async throws {
    let call = try await Call()
    try await call.place.daemon.remove()
    let run = try #require(call.tag as? DetectedTag).run
    for await _ in run.removals where !call.tag.isAvailable { break }
    #expect(await call.codes() == Array(repeating: 100, count: 5))
    #expect(await code { try await call.session.connect(to: .miFare(call.tag)) } == 100)
    #expect(call.session.connectedTag == nil)
    call.session.invalidate()
    #expect(await call.recorder.rest() == ["ended 200"])
    #expect(await call.codes() == Array(repeating: 103, count: 5))
    #expect(await code { try await call.session.connect(to: .miFare(call.tag)) } == 103)
  }

  /// These errors have other codes for reads, for writes and for raw commands.
  @Test(arguments: [
    (Names.Errors.refused, [102, 102, 401, 401, 102]), (Names.Errors.tooLong, [402, 402, 402, 402, 105]),
  ])
  func `an answer of the daemon becomes a code`(error: String, codes: [Int]) async throws {
    var card = SessionCard()
    card.failure = BusError(name: error, message: "no")
    let call = try await Call(card, starter: "`an answer of the daemon becomes a code`_\(error)")
    #expect(await call.codes() == codes)
    call.session.invalidate()
    _ = await call.recorder.rest()
  }

  @Test func `a malformed answer is the tag's error`() async throws {
    var card = SessionCard(message: [0xD1, 0x01])
    card.technology = "type-4a"
    card.properties = ["HistoricalBytes": .bytes([0x80])]
    card.answer = { _ in [0x90] }
    let call = try await Call(card)
    #expect(await code { _ = try await call.tag.readNDEF() } == 102)
    let select = NFCISO7816APDU(
      instructionClass: 0, instructionCode: 0xA4, p1Parameter: 4, p2Parameter: 0, data: Data(),
      expectedResponseLength: -1)
    #expect(await code { _ = try await call.tag.sendMiFareISO7816Command(select) } == 102)
    call.session.invalidate()
    _ = await call.recorder.rest()
  }

  @Test func `calls that wait at the end are answered before the end, each once`() async throws {
    var card = SessionCard()
    card.isSilent = true
    let call = try await Call(card)
    let answers = AsyncStream<String>.makeStream()
    for number in 1...17 {
      call.tag.queryNDEFStatus { _, _, error in
        let answer = answers.continuation.yield("\(number): \((error as? NFCReaderError)?.code.rawValue ?? 0)")
        if case .terminated = answer { Issue.record("an answer after the end") }
      }
    }
    call.session.invalidate()
    #expect(await call.recorder.rest() == ["ended 200"])
    answers.continuation.finish()
    let all = await answers.stream.reduce(into: [String]()) { $0.append($1) }
    #expect(all == (1...17).map { "\($0): 103" })
  }

  @Test func `a cancelled task does not wait for the tag`() async throws {
    var card = SessionCard()
    card.isSilent = true
    let call = try await Call(card)
    let tag = OnQueue(call.tag)
    let task = Task { try await tag.value.readNDEF().length }
    var requests = call.place.daemon.requests.makeAsyncIterator()
    while let request = await requests.next() {
      if case .operation = request { break }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    call.session.invalidate()
    #expect(await call.recorder.rest() == ["ended 200"])
  }

  @Test func `an APDU is not sent to a tag that has no APDUs`() async throws {
    let call = try await Call()
    let write = NFCISO7816APDU(
      instructionClass: 0xA2, instructionCode: 4, p1Parameter: 0, p2Parameter: 0, data: Data(),
      expectedResponseLength: -1)
    #expect(await code { _ = try await call.tag.sendMiFareISO7816Command(write) } == 1)
    call.session.invalidate()
    _ = await call.recorder.rest()
  }

  @Test func `the text of the sheet follows alertMessage`() async throws {
    let place = try await Place()
    let recorder = TagRecorder()
    let session = NFCTagReaderSession(configuration: .init(pollingOption: .iso14443), delegate: recorder)
    session.alertMessage = "first\r\nsecond\u{7}"
    place.begin(session)
    #expect(await recorder.next()?.name == "active")
    session.alertMessage = String(repeating: "é", count: 200)
    #expect(session.alertMessage.count == 200)
    session.invalidate(errorMessage: "no\ncard")
    #expect(await recorder.rest() == ["ended 200"])
    var texts: [String] = []
    for request in await place.requests() {
      switch request {
      case .start(let options): texts.append(options["message"]?.asString ?? "")
      case .setMessage(let text), .invalidate(let text): texts.append(text)
      default: break
      }
    }
    #expect(texts == ["first\nsecond", String(repeating: "é", count: 128), "no\ncard"])
  }

  @Test func `a restart with other lists asks for them`() async throws {
    let call = try await Call()
    call.session.restartPolling(
      configuration: .init(pollingOption: .iso14443, iso7816SelectIdentifiers: ["D2760000850101"]))
    #expect(await call.recorder.nextTags().count == 1)
    #expect(!call.tag.isAvailable)
    call.session.invalidate()
    #expect(await call.recorder.rest() == ["ended 200"])
    let restarts = await call.place.requests().compactMap { request in
      if case .restartPolling(let options) = request { options } else { nil }
    }
    #expect(
      restarts.first?["application-identifiers"]
        == .array(element: "ay", [.bytes([0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01])]))
  }
}

/// The code of an error; nil if there is none.
func code(_ operation: () async throws -> Void) async -> Int? {
  do {
    try await operation()
    return nil
  } catch {
    return (error as? NFCReaderError)?.code.rawValue ?? -1
  }
}
