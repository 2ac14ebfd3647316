import CoreNFC
import Testing

@testable import CoreNFCTests

/// Subclasses of sessions and records, as in a program's own tests. TagProtocolTests have tags of a program's own.
@Suite struct SubclassTests {
  @Test func `a session of the program's own takes the place of a real one`() async throws {
    let delegate = TagDelegate()
    let configuration = NFCTagReaderSession.Configuration(pollingOption: .iso14443)
    let session = FakeTagSession(configuration: configuration, delegate: delegate)
    session.alertMessage = "Hold a tag near the reader."
    session.begin()
    #expect(session.isReady)
    try await session.connect(to: .miFare(MockMiFareTag()))
    #expect(session.connectedTag?.isAvailable == true)
    session.restartPolling(configuration: configuration)
    session.invalidate(errorMessage: "no")
    #expect(session.calls == ["begin", "connect", "restart 1", "invalidate no"])
    #expect(session.delegate === delegate)
    let messages = FakeMessageSession(delegate: MessageDelegate(), queue: .main, invalidateAfterFirstRead: true)
    try await messages.connect(to: MockTag())
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
