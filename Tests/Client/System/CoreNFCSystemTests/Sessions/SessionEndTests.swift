import Bus
import Names
import TestKit
import Testing

@testable import CoreNFC

/// How sessions start and end, and with which code.
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
    guard case .start? = await requests.next() else {
      Issue.record("no session was started")
      return
    }
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
