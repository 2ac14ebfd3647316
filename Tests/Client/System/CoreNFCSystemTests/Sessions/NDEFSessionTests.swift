import Bus
import TestKit
import Testing

@testable import CoreNFC

/// Sessions for NDEF messages, in both modes.
@Suite(.timeLimit(.minutes(5))) struct NDEFSessionTests {
  private static let message: [UInt8] = [0xD1, 0x01, 0x03, 0x55, 0x04, 0x61, 0x2E]

  @Test func `a delegate without didDetect gets the message of each tag, and polling goes on`() async throws {
    let place = try await Place()
    let recorder = MessageRecorder()
    let session = NFCNDEFReaderSession(delegate: recorder, queue: nil, invalidateAfterFirstRead: false)
    try await place.daemon.place(SessionCard(message: Self.message))
    place.begin(session)
    #expect(await recorder.next()?.name == "active")
    guard case .messages(let messages)? = await recorder.next() else {
      Issue.record("no message was reported")
      return
    }
    #expect(messages.map(\.records.first?.payload) == [Data([0x04, 0x61, 0x2E])])
    try await place.daemon.remove()
    // A tag without a message is not reported.
    try await place.daemon.place(SessionCard())
    try await place.daemon.remove()
    try await place.daemon.place(SessionCard(message: Self.message))
    #expect(await recorder.next()?.name == "messages 1")
    // Otherwise the tag would be reported again.
    session.restartPolling()
    session.invalidate()
    #expect(await recorder.rest() == ["ended 200"])
    let requests = await place.requests()
    guard case .start(let options)? = requests.first else {
      Issue.record("no session was started")
      return
    }
    #expect(options["technologies"] == .strings(["type-1", "type-2", "type-3", "type-4a", "type-4b", "type-5"]))
    #expect(!requests.contains { if case .restartPolling = $0 { true } else { false } })
  }

  @Test func `a session can end after the first message`() async throws {
    let place = try await Place()
    let recorder = MessageRecorder()
    let session = NFCNDEFReaderSession(delegate: recorder, queue: nil, invalidateAfterFirstRead: true)
    try await place.daemon.place(SessionCard(message: Self.message))
    place.begin(session)
    #expect(await recorder.rest() == ["active", "messages 1", "ended 204"])
  }

  @Test func `a delegate with didDetect gets tags, and the next ones after a restart`() async throws {
    let place = try await Place()
    let recorder = NDEFTagRecorder()
    let session = NFCNDEFReaderSession(delegate: recorder, queue: nil, invalidateAfterFirstRead: true)
    try await place.daemon.place(SessionCard(message: Self.message))
    place.begin(session)
    let first = await recorder.nextNDEFTags()
    #expect(first.map(\.isAvailable) == [true])
    try await place.daemon.remove()
    // The session does not report this tag, since polling was not restarted.
    try await place.daemon.place(SessionCard())
    session.restartPolling()
    let second = await recorder.nextNDEFTags()
    #expect(first.map(\.isAvailable) == [false])
    #expect(second.map(\.isAvailable) == [true])
    session.invalidate()
    #expect(await recorder.rest() == ["ended 200"])
    #expect(second.map(\.isAvailable) == [false])
  }

  @Test func `a tag is read, written and locked`() async throws {
    let place = try await Place()
    let recorder = NDEFTagRecorder()
    let session = NFCNDEFReaderSession(delegate: recorder, queue: nil, invalidateAfterFirstRead: false)
    try await place.daemon.place(SessionCard(message: Self.message))
    place.begin(session)
    let tag = try #require(await recorder.nextNDEFTags().first)
    try await session.connect(to: tag)
    let (status, capacity) = try await tag.queryNDEFStatus()
    #expect(status == .readWrite && capacity == 137)
    #expect(try await tag.readNDEF().records.first?.wellKnownTypeURIPayload()?.absoluteString == "https://a.")
    let payload = try #require(NFCNDEFPayload.wellKnownTypeURIPayload(string: "https://example.org/"))
    try await tag.writeNDEF(NFCNDEFMessage(records: [payload]))
    #expect(await place.daemon.placed?.message == [0xD1, 0x01, 0x0D, 0x55, 0x04] + Array("example.org/".utf8))
    try await tag.writeLock()
    #expect(try await tag.queryNDEFStatus().0 == .readOnly)
    session.invalidate(errorMessage: "done")
    #expect(await recorder.rest() == ["ended 200"])
  }
}
