import EventLoop
import Glibc
import Names
import Testing

@testable import LibNFCReader
@testable import ReaderKit

@Suite struct TraceWriterTests {
  /// The end of the client that records.
  private let client: FileDescriptor
  private let socket: FileDescriptor
  private let writer: TraceWriter

  init() throws {
    (client, socket) = try FileDescriptor.socketPair(keepsMessages: true)
    writer = TraceWriter(descriptor: socket.rawValue, program: "tagroute-reader", library: "libnfc 1.8")
  }

  /// What was written since the last call.
  private func events() throws -> [TraceLine.Event] {
    var events: [TraceLine.Event] = []
    var buffer = [UInt8](repeating: 0, count: TraceLine.longest + 1)
    while true {
      let count = recv(client.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return events }
      if let line = try TraceLine.read(Array(buffer[..<count])) { events.append(line.event) }
    }
  }

  /// A client that does not read must not make a reader wait.
  @Test func `lines without room are left out and counted`() throws {
    let total = 10_000
    for _ in 1...total { writer.write(.removed) }
    let early = try events().dropFirst()
    #expect(early.allSatisfy { $0 == .removed } && early.count < total)
    writer.write(.removed)
    #expect(try events() == [.lost(total - early.count), .removed])
  }

  /// Its answer takes until the session is over.
  private final class SlowLine: ChipLine {
    let name = "slow"
    private let writer: TraceWriter

    init(_ writer: TraceWriter) { self.writer = writer }

    var now: SuspendingClock.Instant { .now }

    func sleep(for duration: Duration) {}

    func transceive(_ command: [UInt8], answerRoom: Int, within time: Duration) -> LineAnswer {
      writer.isInSession = false
      return .bytes([0x00])
    }
  }

  @Test func `an exchange is marked that ends after its session`() throws {
    let line = TracedLine(SlowLine(writer), writer)
    writer.isInSession = true
    for _ in 1...2 { _ = line.transceive([0x42, 0x30, 0x04], answerRoom: 20, within: .seconds(1)) }
    let exchanges = try events().compactMap { if case .exchange(let exchange) = $0 { exchange } else { nil } }
    #expect(exchanges.map(\.isOfSession) == [true, false])
  }
}
