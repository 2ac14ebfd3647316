@testable import CoreNFC
import EventLoop
import Testing

/// What a session decides, without a daemon. A number stands for a tag.
@Suite struct SessionStateTests {
  // MARK: Phases

  @Test func `a session begins once, and is activated once`() {
    var state = SessionState<Int>()
    let early = state.activate()
    #expect(!early)
    let begun = [state.begin(), state.begin()]
    #expect(begun == [true, false])
    let activated = [state.activate(), state.activate()]
    #expect(activated == [true, false])
    #expect(state.phase == .active)
    _ = state.end()
    let again = [state.begin(), state.activate()]
    #expect(again == [false, false])
    #expect(state.phase == .ended)
  }

  @Test func `the daemon is asked for the end once`() {
    var state = Self.active()
    let requested = [state.invalidate(.readerSessionInvalidationErrorFirstNDEFTagRead), state.invalidate()]
    #expect(requested == [true, false])
    #expect(state.phase == .ending)
    #expect(state.ownEnd == .readerSessionInvalidationErrorFirstNDEFTagRead)
    let activated = state.activate()
    #expect(!activated)
  }

  @Test func `a session that was not begun ends without the daemon`() {
    var state = SessionState<Int>()
    let requested = state.invalidate()
    #expect(!requested)
    #expect(state.phase == .ended)
    let begun = state.begin()
    #expect(!begun)
  }

  @Test func `a session that waits for the reader can be ended`() {
    var state = SessionState<Int>()
    _ = state.begin()
    let requested = state.invalidate()
    #expect(requested)
    #expect(state.phase == .ending)
  }

  @Test func `of several texts, the last one is sent, once`() {
    var state = SessionState<Int>()
    let early = state.setMessage("before the session")
    #expect(!early)
    _ = state.begin()
    let first = state.messageToSend()
    #expect(first == "before the session")
    let sent = [state.setMessage("one"), state.setMessage("two")]
    #expect(sent == [true, false])
    #expect(state.alertMessage == "two")
    let second = state.messageToSend()
    #expect(second == "two")
    let next = state.setMessage("three")
    #expect(next)
    _ = state.end()
    let late = state.setMessage("four")
    #expect(!late)
  }

  // MARK: Tags

  @Test func `a round is reported when it is complete, and the next one after a restart`() {
    var state = Self.active()
    state.detect(0)
    state.detect(1)
    let first = state.completeRound()
    #expect(first == [0, 1])
    state.detect(2)
    let paused = state.completeRound()
    #expect(paused == [])
    let restarted = state.restartPolling()
    #expect(restarted)
    #expect(![0, 1, 2].contains { state.isAvailable($0) })
    // A tag of before the restart.
    state.detect(2)
    let former = state.completeRound()
    #expect(former == [])
    #expect(!state.isAvailable(2))
    state.restarted()
    state.detect(3)
    let next = state.completeRound()
    #expect(next == [3])
    #expect(state.isAvailable(3))
  }

  @Test func `a session that reads messages gets the tags that were found meanwhile`() {
    var state = Self.active()
    state.detect(0)
    let first = state.completeRound()
    #expect(first == [0])
    state.detect(1)
    state.detect(2)
    state.remove(1)
    let paused = state.completeRound()
    #expect(paused == [])
    let resumed = [state.resume(), state.resume()]
    #expect(resumed == [[2], []])
  }

  @Test func `a round that is not complete is not reported`() {
    var state = Self.active()
    state.detect(0)
    _ = state.completeRound()
    state.detect(1)
    let resumed = state.resume()
    #expect(resumed == [])
    let complete = state.completeRound()
    #expect(complete == [1])
  }

  @Test func `polling is restarted in an active session only`() {
    var state = SessionState<Int>()
    let created = state.restartPolling()
    _ = state.begin()
    let starting = state.restartPolling()
    _ = state.invalidate()
    let ending = state.restartPolling()
    #expect([created, starting, ending] == [false, false, false])
  }

  // MARK: Connection and calls

  @Test func `the connection ends with the tag, with a restart, and with the session`() {
    var state = Self.active()
    for tag in [0, 1] { state.detect(tag) }
    let codes = [state.connect(0), state.connect(1)]
    #expect(codes == [nil, nil])
    #expect(state.connectedTag == 1)
    state.remove(1)
    #expect(state.connectedTag == nil)
    let gone = state.connect(1)
    #expect(gone == .readerTransceiveErrorTagConnectionLost)
    _ = state.connect(0)
    _ = state.restartPolling()
    #expect(state.connectedTag == nil)
    state.restarted()
    state.detect(0)
    _ = state.connect(0)
    _ = state.end()
    #expect(state.connectedTag == nil)
    let over = state.connect(0)
    #expect(over == .readerTransceiveErrorSessionInvalidated)
  }

  @Test func `a call is admitted if its tag is there and connected`() {
    let tag = 0
    var state = SessionState<Int>()
    func code(_ needsConnection: Bool = true) -> NFCReaderError.Code? {
      switch state.admit(tag, needsConnection: needsConnection, { _ in }) {
      case .success: nil
      case .failure(let error): error.code
      }
    }
    #expect(code() == .readerTransceiveErrorSessionInvalidated)
    state = Self.active()
    #expect(code() == .readerTransceiveErrorTagConnectionLost)
    state.detect(tag)
    #expect(code() == .readerTransceiveErrorTagNotConnected)
    #expect(code(false) == nil)
    _ = state.connect(tag)
    #expect(code() == nil)
    state.remove(tag)
    #expect(code() == .readerTransceiveErrorTagConnectionLost)
  }

  @Test func `the end fails the calls that wait, in their order, and nothing else settles them`() throws {
    let tag = 0
    var state = Self.active()
    state.detect(tag)
    _ = state.connect(tag)
    let failed = Locked<[Int]>([])
    var numbers: [UInt64] = []
    for call in 1...20 {
      numbers.append(
        try state.admit(tag, needsConnection: true) { code in
          failed.withLock { $0.append(1000 * call + code.rawValue) }
        }.get())
    }
    let settled = [state.settle(numbers[4]), state.settle(numbers[4])]
    #expect(settled == [true, false])
    for fail in state.end() { fail(.readerTransceiveErrorSessionInvalidated) }
    #expect(failed.withLock { $0 } == (1...20).filter { $0 != 5 }.map { 1000 * $0 + 103 })
    let late = state.settle(numbers[0])
    #expect(!late)
    let none = state.end()
    #expect(none.isEmpty)
  }

  // MARK: Values

  private static func active() -> SessionState<Int> {
    var state = SessionState<Int>()
    _ = state.begin()
    _ = state.activate()
    return state
  }
}
