import CoreNFC
import Testing

/// Classes of a program's own tests: they have only the forms with completion handlers, and work through the others.
@Suite struct FakeTests {
  /// The code with which a call fails; nil if it succeeds.
  private func code(_ call: () async throws -> Void) async -> NFCReaderError.Code? {
    do {
      try await call()
      return nil
    } catch {
      return (error as? NFCReaderError)?.code
    }
  }

  @Test func `a tag of the program's own is read, written and locked`() async throws {
    let tag: any NFCNDEFTag = FakeTag()
    let (status, capacity) = try await tag.queryNDEFStatus()
    #expect(status == .readWrite)
    #expect(capacity == 137)
    let failure = await code { _ = try await tag.readNDEF() }
    #expect(failure == .ndefReaderSessionErrorZeroLengthMessage)
    let record = try #require(NFCNDEFPayload.wellKnownTypeURIPayload(string: "https://example.com"))
    try await tag.writeNDEF(NFCNDEFMessage(records: [record]))
    #expect(try await tag.readNDEF().records == [record])
    try await tag.writeLock()
    #expect(try await tag.queryNDEFStatus().0 == .readOnly)
  }

  @Test func `commands to tags of the program's own have three forms`() async throws {
    let apdu = NFCISO7816APDU(
      instructionClass: 0, instructionCode: 0xB0, p1Parameter: 0, p2Parameter: 0, data: Data([1]),
      expectedResponseLength: 16)
    let chip: any NFCISO7816Tag = FakeISO7816Tag()
    let (data, status1, status2) = try await chip.sendCommand(apdu: apdu)
    #expect(data == Data([1]))
    #expect([status1, status2] == [0x90, 0xB0])
    let answer = try await withCheckedThrowingContinuation { continuation in
      chip.sendCommand(apdu: apdu) { (result: Result<NFCISO7816ResponseAPDU, any Error>) in
        continuation.resume(with: result)
      }
    }
    #expect(answer.payload == Data([1]))
    #expect(answer.statusWord2 == 0xB0)

    let ultralight: any NFCMiFareTag = FakeMiFareTag()
    #expect(try await ultralight.sendMiFareCommand(commandPacket: Data([0x30, 0])) == Data([0x30, 0]))
    let refusal = await code { _ = try await ultralight.sendMiFareISO7816Command(apdu) }
    #expect(refusal == .readerTransceiveErrorTagResponseError)

    let card: any NFCFeliCaTag = FakeFeliCaTag()
    let (flag1, flag2, blocks) = try await card.readWithoutEncryption(
      serviceCodeList: [], blockList: [Data([0x80, 0])])
    #expect(flag1 == 0 && flag2 == 0)
    #expect(blocks == [Data([0x80, 0])])
    let (first, second) = try await card.writeWithoutEncryption(serviceCodeList: [], blockList: [], blockData: [])
    #expect(first == 0x01 && second == 0xA8)

    let vicinity: any NFCISO15693Tag = FakeISO15693Tag()
    let info = try await vicinity.systemInfo(requestFlags: .highDataRate)
    #expect(info.totalBlocks == 80)
    #expect(info.icReference == 0x44)
  }

  @Test func `a session of the program's own takes the place of a real one`() async throws {
    let delegate = TagDelegate()
    let configuration = NFCTagReaderSession.Configuration(pollingOption: .iso14443)
    let session = FakeTagSession(configuration: configuration, delegate: delegate)
    session.alertMessage = "Hold a tag near the reader."
    session.begin()
    #expect(session.isReady)
    try await session.connect(to: .miFare(FakeMiFareTag()))
    #expect(session.connectedTag?.isAvailable == true)
    session.restartPolling(configuration: configuration)
    session.invalidate(errorMessage: "no")
    #expect(session.calls == ["begin", "connect", "restart 1", "invalidate no"])
    #expect(session.delegate === delegate)
    let messages = FakeMessageSession(delegate: MessageDelegate(), queue: .main, invalidateAfterFirstRead: true)
    try await messages.connect(to: FakeTag())
    #expect(messages.calls == ["connect"])
    #expect(messages.sessionQueue.label == DispatchQueue.main.label)
  }

  @Test func `a record of a subclass is made by the class's own functions`() throws {
    let sticker = try #require(Sticker.link("https://example.com/5"))
    #expect(sticker.isLink)
    #expect(sticker.wellKnownTypeURIPayload() == URL(string: "https://example.com/5"))
    #expect(try #require(Sticker.text("Hello")).wellKnownTypeTextPayload().0 == "Hello")
  }
}
