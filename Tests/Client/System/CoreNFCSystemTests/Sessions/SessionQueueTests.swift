import Bus
import TestKit
import Testing

@testable import CoreNFC
@testable import CoreNFCTests

/// On which queue callbacks come, and what keeps a session alive.
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
    guard case .invalidate? = await place.requests().last else {
      Issue.record("the session was not ended")
      return
    }
  }
}
