import Bus
import EventLoop
import Names
import TagrouteClient
import Testing

@testable import CoreNFC

/// A number stands for a tag.
@Suite struct SessionStateTests {
  // MARK: Phases

  @Test func `a session begins once, and is activated once`() {
    var state = SessionState<Int>()
    let answers = [state.activate(), state.begin(), state.begin(), state.activate(), state.activate()]
    #expect(answers == [false, true, false, true, false])
    #expect(state.phase == .active)
    _ = state.end()
    #expect([state.begin(), state.activate()] == [false, false])
    #expect(state.phase == .ended)
  }

  @Test func `the daemon is asked for the end once`() {
    var state = Self.active()
    let requested = [state.invalidate(.readerSessionInvalidationErrorFirstNDEFTagRead), state.invalidate()]
    #expect(requested == [true, false])
    #expect(state.phase == .ending)
    #expect(state.ownEnd == .readerSessionInvalidationErrorFirstNDEFTagRead)
    #expect(state.activate() == false)
  }

  @Test func `a session that was not begun ends without the daemon, and one that waits for the reader with it`() {
    var state = SessionState<Int>()
    #expect(state.invalidate() == false)
    #expect(state.phase == .ended)
    #expect(state.begin() == false)
    state = SessionState<Int>()
    #expect([state.begin(), state.invalidate()] == [true, true])
    #expect(state.phase == .ending)
  }

  @Test func `of several texts, the last one is sent, once`() {
    var state = SessionState<Int>()
    #expect(state.setMessage("before the session") == false)
    _ = state.begin()
    #expect(state.messageToSend() == "before the session")
    #expect([state.setMessage("one"), state.setMessage("two")] == [true, false])
    #expect(state.alertMessage == "two")
    #expect(state.messageToSend() == "two")
    #expect(state.setMessage("three") == true)
    _ = state.end()
    #expect(state.setMessage("four") == false)
  }

  // MARK: Tags

  @Test func `a round is reported when it is complete, and the next one after a restart`() {
    var state = Self.active()
    state.detect(0)
    state.detect(1)
    #expect(state.completeRound() == [0, 1])
    state.detect(2)
    #expect(state.completeRound() == [])
    #expect(state.restartPolling() == true)
    #expect(![0, 1, 2].contains { state.isAvailable($0) })
    // A tag of before the restart.
    state.detect(2)
    #expect(state.completeRound() == [])
    #expect(!state.isAvailable(2))
    state.restarted()
    state.detect(3)
    #expect(state.completeRound() == [3])
    #expect(state.isAvailable(3))
  }

  @Test func `a session that reads messages gets the tags that were found meanwhile`() {
    var state = Self.active()
    state.detect(0)
    #expect(state.completeRound() == [0])
    state.detect(1)
    state.detect(2)
    state.remove(1)
    #expect(state.completeRound() == [])
    #expect([state.resume(), state.resume()] == [[2], []])
  }

  @Test func `a round that is not complete is not reported`() {
    var state = Self.active()
    state.detect(0)
    _ = state.completeRound()
    state.detect(1)
    #expect(state.resume() == [])
    #expect(state.completeRound() == [1])
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
    #expect([state.connect(0), state.connect(1)] == [nil, nil])
    #expect(state.connectedTag == 1)
    state.remove(1)
    #expect(state.connectedTag == nil)
    #expect(state.connect(1) == .readerTransceiveErrorTagConnectionLost)
    _ = state.connect(0)
    _ = state.restartPolling()
    #expect(state.connectedTag == nil)
    state.restarted()
    state.detect(0)
    _ = state.connect(0)
    _ = state.end()
    #expect(state.connectedTag == nil)
    #expect(state.connect(0) == .readerTransceiveErrorSessionInvalidated)
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

  @Test func `a call connects to its tag if no other was found, and none is connected`() {
    func admits(_ tag: Int, _ state: inout SessionState<Int>) -> Bool {
      (try? state.admit(tag, needsConnection: true) { _ in }.get()) != nil
    }
    var state = Self.active()
    state.detect(0)
    #expect(state.completeRound() == [0])
    #expect(admits(0, &state) && state.connectedTag == 0)
    // The next round has two, and connecting to one of them is left to the program.
    _ = state.restartPolling()
    state.restarted()
    for tag in [1, 2] { state.detect(tag) }
    #expect(state.completeRound() == [1, 2])
    #expect(!admits(1, &state) && !admits(2, &state) && state.connectedTag == nil)
    #expect(state.connect(1) == nil && admits(1, &state) && !admits(2, &state))
    // A tag of an earlier round stays connected.
    _ = state.resume()
    state.detect(3)
    #expect(state.completeRound() == [3])
    #expect(!admits(3, &state) && state.connectedTag == 1)
    state.remove(1)
    #expect(admits(3, &state) && state.connectedTag == 3)
  }

  @Test func `a hidden tag does not count`() throws {
    var state = Self.active()
    for tag in [0, 1] { state.detect(tag) }
    #expect(state.completeRound() == [0, 1])
    state.hide([1])
    _ = try state.admit(0, needsConnection: true) { _ in }.get()
    #expect(state.connectedTag == 0)
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
    #expect([state.settle(numbers[4]), state.settle(numbers[4])] == [true, false])
    for fail in state.end() { fail(.readerTransceiveErrorSessionInvalidated) }
    #expect(failed.withLock { $0 } == (1...20).filter { $0 != 5 }.map { 1000 * $0 + 103 })
    #expect(state.settle(numbers[0]) == false)
    #expect(state.end().count == 0)
  }

  // MARK: Values

  private static func active() -> SessionState<Int> {
    var state = SessionState<Int>()
    _ = state.begin()
    _ = state.activate()
    return state
  }
}

@Suite struct SheetTextTests {
  @Test(arguments: [
    ("one\ntwo", "one\ntwo"), ("one\r\ntwo", "one\ntwo"), ("one\rtwo", "one\ntwo"), ("one\r\rtwo", "one\n\ntwo"),
    ("one\n\rtwo", "one\n\ntwo"), ("one\u{2028}two\u{2029}three", "one\ntwo\nthree"), ("\r\n\r\n", "\n\n"), ("", ""),
  ])
  func `every line break becomes one line feed`(text: String, plain: String) {
    #expect(SheetText.plain(text) == plain)
  }

  @Test(arguments: [
    ("a\tb", "ab"), ("a\u{7}b\u{0}", "ab"), ("a\u{85}b\u{9B}", "ab"),
    // Cf: direction marks and overrides, a soft hyphen, a byte order mark, an invisible tag.
    ("a\u{202E}b\u{2066}c\u{200F}", "abc"), ("a\u{AD}b\u{FEFF}", "ab"), ("a\u{E0041}b", "ab"),
    // A joiner within one character: the scalars around it stay.
    ("\u{1F469}\u{200D}\u{1F4BB}", "\u{1F469}\u{1F4BB}"), ("e\u{301}", "e\u{301}"), ("日本語", "日本語"),
  ])
  func `other control and format characters are left out`(text: String, plain: String) {
    #expect(Array(SheetText.plain(text).unicodeScalars) == Array(plain.unicodeScalars))
  }

  @Test(arguments: [
    (String(repeating: "a", count: 256), 256), (String(repeating: "a", count: 300), 256),
    (String(repeating: "é", count: 129), 256), ("a" + String(repeating: "é", count: 128), 255),
    (String(repeating: "日", count: 100), 255), (String(repeating: "e\u{301}", count: 100), 255),
    (String(repeating: "\u{1F469}\u{1F3FD}", count: 40), 256), ("e" + String(repeating: "\u{301}", count: 300), 0),
    (String(repeating: "\r\n", count: 300), 256), (String(repeating: "\u{200B}", count: 300) + "end", 3),
  ])
  func `a long text is cut before the character that does not fit`(text: String, bytes: Int) {
    let plain = SheetText.plain(text)
    #expect(plain.utf8.count == bytes)
    #expect(SheetText.plain(plain) == plain)
  }
}

/// Which code an answer of the daemon becomes.
@Suite struct AnswerCodeTests {
  @Test(arguments: [
    (Names.Errors.notPossible, 1), (Names.Errors.notAuthorized, 2), (Names.Errors.invalidArgument, 2),
    (Names.Errors.tooMany, 203), (Names.Errors.busy, 203), (BusError.Name.nameHasNoOwner, 1),
  ])
  func `a refused start`(error: String, code: Int) {
    #expect(NFCReaderError(BusError(name: error, message: "no"), in: .start).code.rawValue == code)
  }

  /// The codes of a read, a write and a raw command.
  @Test(arguments: [
    (Names.Errors.tagLost, [100, 100, 100]), (BusError.Name.unknownObject, [100, 100, 100]),
    (Names.Errors.readerLost, [100, 100, 100]), (Names.Errors.timedOut, [102, 102, 102]),
    (Names.Errors.refused, [102, 401, 102]), (Names.Errors.sessionEnded, [103, 103, 103]),
    (Names.Errors.tooLong, [402, 402, 105]), (Names.Errors.notAuthorized, [2, 2, 2]),
    (Names.Errors.invalidArgument, [3, 3, 3]), (Names.Errors.notSupported, [1, 1, 1]),
    (Names.Errors.readOnly, [400, 400, 400]), (Names.Errors.empty, [403, 403, 403]),
    (Names.Errors.notAsWritten, [401, 401, 401]), (Names.Errors.cannotLock, [401, 401, 401]),
    (Names.Errors.notFormatted, [1, 1, 1]), (Names.Errors.busy, [101, 101, 101]),
    (BusError.Name.noReply, [103, 103, 103]),
  ])
  func `a failed call to a tag`(error: String, codes: [Int]) {
    let operations: [NFCReaderError.Operation] = [.read, .write, .command]
    let error = BusError(name: error, message: "no")
    #expect(operations.map { NFCReaderError(error, in: $0).code.rawValue } == codes)
  }

  @Test func `the end of a session`() {
    let codes = ReaderSessionEnd.Reason.allCases.map { reason in
      NFCReaderError.Code(reason, ownEnd: .readerErrorIneligible).rawValue
    }
    // Invalidated, cancelled, timed out, first read; the others are ends that the program did not request.
    #expect(codes == [7, 200, 201, 204, 202, 202, 202, 202, 202])
  }

  @Test func `the family of a MIFARE tag follows from its technology and its historical bytes`() {
    let families = [
      NFCMiFareFamily("type-2", []), NFCMiFareFamily("type-4a", [0x80]),
      NFCMiFareFamily("type-4a", [0xC1, 0x05, 0x2F, 0x2F, 0x01, 0xBC, 0xD6]), NFCMiFareFamily("type-4a", []),
      NFCMiFareFamily("type-4b", [0x80]), NFCMiFareFamily("type-5", []),
    ]
    #expect(families == [.ultralight, .desfire, .plus, .unknown, .unknown, .unknown])
  }
}
