import Daemon
import EventLoop
import Glibc
import Names
import ReaderProtocol
import Testing

@testable import LibNFCReader
@testable import ReaderKit

@Suite struct DaemonConnectionTests {
  /// The daemon's end of the link to `connection`.
  let daemon: FileDescriptor
  let reader: FileDescriptor
  let connection: DaemonConnection

  init() throws {
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    daemon = FileDescriptor(owning: pair[0])
    reader = FileDescriptor(owning: pair[1])
    let start = SuspendingClock.now
    connection = DaemonConnection(
      DaemonChannel(descriptor: pair[1]), ReaderTiming(device: "pn532_uart:/dev/x"), now: { start })
  }

  /// The message of a regular heartbeat.
  let beat = ReaderMessage.heartbeat(within: 2000)

  func send(_ command: ReaderCommand) {
    let frame = command.frame
    #expect(write(daemon.rawValue, frame, frame.count) == frame.count)
  }

  func received() throws -> [ReaderMessage] {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(daemon.rawValue, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    var decoder = FrameDecoder()
    decoder.append(bytes.prefix(max(count, 0)))
    var messages: [ReaderMessage] = []
    while let payload = try decoder.next() { messages.append(try ReaderMessage(payload: payload)) }
    return messages
  }

  @Test func `a heartbeat is sent only if one is due`() throws {
    for _ in 0..<3 { try connection.beat() }
    #expect(try received() == [beat])
  }

  @Test func `the next heartbeat replaces a long promise`() throws {
    try connection.promise(.seconds(5))
    try connection.beat()
    #expect(try received() == [.heartbeat(within: 5000), beat])
  }

  @Test func `a heartbeat is sent at once after a sleep without a promise`() throws {
    try connection.beat()
    try connection.promiseNothing()
    try connection.beat()
    #expect(try received() == [beat, .heartbeat(within: 0), beat])
  }

  @Test func `a long pause is announced to the daemon`() throws {
    try connection.beat()
    // A command of the daemon ends the pause at once.
    send(.goal(epoch: 1, .lent, known: KnownTags()))
    try connection.pause(.seconds(10))
    #expect(try received() == [beat, .heartbeat(within: 12_000), beat])
  }

  @Test func `a short pause is not announced`() throws {
    try connection.beat()
    send(.goal(epoch: 1, .lent, known: KnownTags()))
    try connection.pause(.milliseconds(120))
    #expect(try received() == [beat])
  }

  @Test func `a state is reported only when it changes`() throws {
    for reason in ["a", "a", "b"] { try connection.report(.state(.absent(reason: reason))) }
    #expect(try received() == [.state(.absent(reason: "a")), .state(.absent(reason: "b"))])
  }

  @Test func `the connection keeps the goal and the known tags of the last command`() throws {
    #expect(try !connection.isInterrupted(0))
    let known = KnownTags(tags: [KnownTag(number: 1, fingerprint: TagFingerprint(value: 2), technology: .type4B)])
    send(.goal(epoch: 1, .scan(ReaderPolling()), known: known))
    try connection.sleep(nil)
    #expect(try connection.isInterrupted(0) && !connection.isInterrupted(1))
    #expect(connection.goal == .scan(ReaderPolling()))
    #expect(connection.takeKnown() == known)
    #expect(connection.takeKnown() == nil)
    // A command with the same goal only updates the known tags.
    send(.goal(epoch: 1, .scan(ReaderPolling()), known: known))
    #expect(try !connection.isInterrupted(1))
    #expect(connection.takeKnown() == known)
    send(.shutDown)
    #expect(try connection.isInterrupted(1))
  }

  @Test func `requests for another goal are dropped`() throws {
    send(.goal(epoch: 1, .session(TagSessionOptions(number: 7)), known: KnownTags()))
    for request: UInt64 in 1...2 { send(.perform(epoch: 1, request: request, placement: 1, .read)) }
    send(.perform(epoch: 2, request: 3, placement: 1, .read))
    send(.restartPolling(epoch: 2, TagSessionOptions(number: 8)))
    try connection.sleep(nil)
    #expect(try !connection.isInterrupted(1) && connection.isInterrupted(1, yieldsToRequests: true))
    #expect(connection.requests.map(\.number) == [1, 2] && !connection.isToRestart)
    #expect(connection.takeRequest()?.number == 1)
    let last = TagSessionOptions(number: 7, technologies: [.type3])
    send(.restartPolling(epoch: 1, TagSessionOptions(number: 7)))
    send(.restartPolling(epoch: 1, last))
    try connection.sleep(nil)
    #expect(connection.isToRestart)
    #expect(connection.takeRestart() == last)
    #expect(!connection.isToRestart)
    send(.restartPolling(epoch: 1, last))
    try connection.sleep(nil)
    send(.goal(epoch: 2, .off, known: KnownTags()))
    try connection.sleep(nil)
    #expect(connection.requests.isEmpty && !connection.isToRestart)
  }
}
