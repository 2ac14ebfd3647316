import Bus
import Names
import TestKit
import Testing

@testable import CoreNFC
@testable import CoreNFCTests

@Suite(.timeLimit(.minutes(5))) struct SessionEndTests {
  private func session(_ recorder: TagRecorder) -> NFCTagReaderSession {
    NFCTagReaderSession(configuration: .init(pollingOption: .iso14443), delegate: recorder)
  }

  @Test func `the end of the session has the code of its reason`() async throws {
    let place = try await Place()
    let recorder = TagRecorder()
    place.begin(session(recorder))
    #expect(await recorder.next()?.name == "active")
    try await place.daemon.end("timed-out")
    #expect(await recorder.rest() == ["ended 201"])
  }

  @Test func `a refused start has the code of its error`() async throws {
    let place = try await Place()
    await place.daemon.refuse(BusError(name: Names.Errors.tooMany, message: "no"))
    let recorder = TagRecorder()
    place.begin(session(recorder))
    #expect(await recorder.rest() == ["ended 203"])
  }

  @Test func `without a daemon or a bus, the code is that of a missing feature`() async throws {
    let bus = try await PrivateBus.start()
    for address in [bus.address, "unix:path=/nonexistent/bus"] {
      let recorder = TagRecorder()
      let session = session(recorder)
      session.bus = BusAddress(address)
      session.begin()
      #expect(await recorder.rest() == ["ended 1"])
    }
  }

  @Test func `a daemon that dies ends the session`() async throws {
    let place = try await Place()
    let recorder = TagRecorder()
    place.begin(session(recorder))
    #expect(await recorder.next()?.name == "active")
    await place.daemon.leave()
    #expect(await recorder.rest() == ["ended 202"])
  }

  @Test func `the program ends its session before it is active`() async throws {
    let place = try await Place()
    await place.daemon.letThemWait()
    let recorder = TagRecorder()
    let waiting = session(recorder)
    place.begin(waiting)
    waiting.invalidate()
    #expect(await recorder.rest() == ["ended 200"])
    #expect(!waiting.isReady)
  }

  @Test func `the program ends a session that waits`() async throws {
    let place = try await Place()
    await place.daemon.letThemWait()
    let recorder = TagRecorder()
    let waiting = session(recorder)
    place.begin(waiting)
    var requests = place.daemon.requests.makeAsyncIterator()
    guard case .start? = await requests.next() else { throw RigError("no session was started") }
    #expect(!waiting.isReady)
    waiting.invalidate(errorMessage: "too slow")
    #expect(await recorder.rest() == ["ended 200"])
  }

  @Test func `a session is used once`() async throws {
    let place = try await Place()
    let recorder = TagRecorder()
    let session = session(recorder)
    place.begin(session)
    #expect(await recorder.next()?.name == "active")
    #expect(session.isReady)
    session.begin()
    session.invalidate()
    session.invalidate(errorMessage: "again")
    #expect(await recorder.rest() == ["ended 200"])
    session.begin()
    session.restartPolling()
    session.invalidate()
    let requests = await place.requests()
    #expect(requests.count == 2, "\(requests)")
    #expect(!session.isReady && session.connectedTag == nil)
  }

  @Test func `a session that was invalidated before its start never starts`() async throws {
    let place = try await Place()
    let (unused, recorder) = (TagRecorder(), TagRecorder())
    let invalidated = session(unused)
    invalidated.invalidate()
    place.begin(invalidated)
    let other = session(recorder)
    place.begin(other)
    #expect(await recorder.next()?.name == "active")
    other.invalidate()
    #expect(await recorder.rest() == ["ended 200"])
    #expect(await place.requests().count == 2)
  }

  @Test func `a program that may only read gets a session that reads`() async throws {
    let place = try await Place()
    await place.daemon.refuseWriting()
    let recorder = TagRecorder()
    let session = session(recorder)
    place.begin(session)
    #expect(await recorder.next()?.name == "active")
    session.invalidate()
    #expect(await recorder.rest() == ["ended 200"])
    let access = await place.requests().compactMap { request in
      if case .start(let options) = request { options["access"] } else { nil }
    }
    #expect(access == [.string("write"), .string("read")])
  }

  @Test func `a kind of tags that needs a list, and payment tags, end with their codes`() async throws {
    let place = try await Place()
    let recorder = TagRecorder()
    place.begin(NFCPaymentTagReaderSession(delegate: recorder, queue: nil))
    #expect(await recorder.rest() == ["ended 1"])
    let undeclared = TagRecorder()
    place.begin(NFCTagReaderSession(configuration: .init(pollingOption: .iso18092), delegate: undeclared))
    #expect(await undeclared.rest() == ["ended 2"])
    #expect(!NFCVASReaderSession.readingAvailable && !NFCPaymentTagReaderSession.readingAvailable)
    #expect(NFCTagReaderSession(pollingOption: [], delegate: recorder) == nil)
  }
}

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
    guard case .messages(let messages)? = await recorder.next() else { throw RigError("no message was reported") }
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
    guard case .start(let options)? = requests.first else { throw RigError("no session was started") }
    #expect(options["technologies"] == .strings(["type-1", "type-2", "type-3", "type-4a", "type-4b", "type-5"]))
    #expect(!requests.contains { if case .restartPolling = $0 { true } else { false } })
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
}

@Suite(.timeLimit(.minutes(5))) struct SessionQueueTests {
  @Test(arguments: ["own", "given", "main"]) func `callbacks come on the session's queue`(which: String) async throws {
    let place = try await Place(starter: "`callbacks come on the session's queue`_\(which)")
    let queue: DispatchQueue? =
      switch which {
      case "given": DispatchQueue(label: "given")
      case "main": .main
      default: nil
      }
    let recorder = NDEFTagRecorder()
    let session = NFCNDEFReaderSession(delegate: recorder, queue: queue, invalidateAfterFirstRead: false)
    if let queue { #expect(session.sessionQueue === queue) }
    try await place.daemon.place(SessionCard())
    place.begin(session)
    // The recorder checks the queue of each callback.
    let tag = try #require(await recorder.nextNDEFTags().first)
    let used = session.sessionQueue
    let answers = AsyncStream<String>.makeStream()
    session.connect(to: tag) { error in
      dispatchPrecondition(condition: .onQueue(used))
      answers.continuation.yield("connect \(error == nil)")
    }
    tag.queryNDEFStatus { status, _, _ in
      dispatchPrecondition(condition: .onQueue(used))
      answers.continuation.yield("status \(status.rawValue)")
      answers.continuation.finish()
    }
    #expect(await answers.stream.reduce(into: []) { $0.append($1) } == ["connect true", "status 2"])
    session.invalidate()
    #expect(await recorder.rest() == ["ended 200"])
  }

  @Test func `no callback comes inside a call`() async throws {
    let place = try await Place()
    let recorder = TagRecorder()
    let queue = DispatchQueue(label: "given")
    let session = NFCTagReaderSession(
      configuration: .init(pollingOption: .iso14443), delegate: recorder, queue: queue)
    let order = AsyncStream<String>.makeStream()
    let inside = OnQueue((session, place))
    queue.async {
      let (session, place) = inside.value
      place.begin(session)
      session.connect(to: NFCTag.miFare(MockMiFareTag())) { error in
        order.continuation.yield("completed \(((error as? NFCReaderError)?.code ?? .readerErrorIneligible).rawValue)")
        order.continuation.finish()
      }
      order.continuation.yield("called")
    }
    #expect(await order.stream.reduce(into: []) { $0.append($1) } == ["called", "completed 3"])
    session.invalidate()
    #expect(await recorder.rest().last == "ended 200")
  }

  @Test func `a session keeps itself alive until its end, and not longer`() async throws {
    let place = try await Place()
    let recorder = TagRecorder()
    weak var kept: NFCTagReaderSession?
    do {
      let session = NFCTagReaderSession(configuration: .init(pollingOption: .iso14443), delegate: recorder)
      kept = session
      try await place.daemon.place(SessionCard())
      place.begin(session)
    }
    weak var tag: DetectedTag?
    let end = AsyncStream.makeStream(of: Void.self)
    do {
      let tags = await recorder.nextTags()
      tag = tags.first?.any as? DetectedTag
      #expect(tag != nil && kept != nil)
      // The session and the tag keep their run. Its end is that of its stream.
      tag?.run.removal.onTermination = { _ in end.continuation.finish() }
    }
    kept?.invalidate()
    #expect(await recorder.rest() == ["ended 200"])
    for await _ in end.stream {}
    #expect(kept == nil && tag == nil)
  }

  @Test func `a session without a delegate ends with it, and one that was not begun leaves nothing`() async throws {
    let place = try await Place()
    weak var unused: NFCTagReaderSession?
    do {
      let recorder = TagRecorder()
      let session = NFCTagReaderSession(configuration: .init(pollingOption: .iso14443), delegate: recorder)
      unused = session
      _ = session.delegate
    }
    #expect(unused == nil)
    var recorder: TagRecorder? = TagRecorder()
    let session = NFCTagReaderSession(
      configuration: .init(pollingOption: .iso14443), delegate: try #require(recorder))
    place.begin(session)
    #expect(await recorder?.next()?.name == "active")
    recorder = nil
    // The callback that was read may not have returned yet.
    let queue = session.sessionQueue
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    #expect(session.delegate == nil)
    session.invalidate()
    guard case .invalidate? = await place.requests().last else { throw RigError("the session was not ended") }
  }
}
