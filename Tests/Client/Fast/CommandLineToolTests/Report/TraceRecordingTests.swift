import Bus
import EventLoop
import Glibc
import Names
import Testing

@testable import CommandLineTool

/// A recording of readers that come and go, with a daemon that the test plays.
@Suite(.timeLimit(.minutes(1))) struct TraceRecordingTests {
  /// Plays the daemon.
  private final class Daemon: Sendable {
    struct State {
      var readers: [TraceRecording.Reader] = []
      /// Why no recording may begin; nil if it may.
      var refusal: String?
      /// The daemon's ends, by the reader's path.
      var sockets: [String: FileDescriptor] = [:]
    }

    let state = Locked(State())

    init(_ readers: String...) { state.withLock { $0.readers = readers.map(Self.reader) } }

    static func reader(_ number: String) -> TraceRecording.Reader {
      TraceRecording.Reader(path: "/readers/\(number)", label: "\(number): ACR122U", number: Int(number) ?? 0)
    }

    func recording(mostLines: Int = 100) -> TraceRecording {
      TraceRecording(
        TraceRecording.Source(
          readers: { () throws(BusError) in self.state.withLock { $0.readers } },
          record: { reader throws(BusError) in
            if let refusal = self.state.withLock({ $0.refusal }) {
              throw BusError(name: Names.Errors.notAuthorized, message: refusal)
            }
            do throws(SystemError) {
              let (ours, theirs) = try FileDescriptor.socketPair(keepsMessages: true)
              self.state.withLock { $0.sockets[reader.path] = ours }
              return theirs
            } catch {
              throw BusError(name: Names.Errors.failed, message: "\(error)")
            }
          }), on: EventLoop(label: "test"), mostLines: mostLines)
    }

    func write(_ event: TraceLine.Event, to number: String) throws {
      let socket = try #require(state.withLock { $0.sockets["/readers/\(number)"] })
      let bytes = TraceLine(event, at: 1).bytes
      #expect(send(socket.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    /// Ends a recording.
    func end(_ number: String) { state.withLock { $0.sockets["/readers/\(number)"] = nil } }
  }

  @Test func `the lines of each reader are kept in order`() async throws {
    let daemon = Daemon("0", "1")
    let recording = daemon.recording()
    try await recording.update()
    for count in 1...50 {
      try daemon.write(.lost(count), to: "0")
      if count > 48 { try daemon.write(.lost(count), to: "1") }
    }
    let (traces, remarks) = await recording.finish()
    #expect(traces.map(\.reader.number) == [0, 1])
    #expect(traces.map { $0.lines.map(\.event) } == [(1...50).map { .lost($0) }, [.lost(49), .lost(50)]])
    #expect(remarks.isEmpty)
  }

  @Test func `a reader that comes later is recorded, and one that comes back continues its trace`() async throws {
    let daemon = Daemon("0")
    let recording = daemon.recording()
    try await recording.update()
    daemon.state.withLock { $0.readers.append(Daemon.reader("1")) }
    try await recording.update()
    try daemon.write(.removed, to: "1")
    daemon.end("1")
    try await recording.update()
    try daemon.write(.lost(1), to: "1")
    let (traces, remarks) = await recording.finish()
    #expect(traces.map { $0.lines.map(\.event) } == [[], [.removed, .lost(1)]])
    #expect(remarks == ["reader 1: ACR122U: the daemon has ended its recording"])
  }

  @Test func `a reader that may not be recorded is named`() async throws {
    let daemon = Daemon("0")
    daemon.state.withLock { $0.refusal = "the screen is locked" }
    let recording = daemon.recording()
    for _ in 1...2 { try await recording.update() }
    #expect(await recording.remarks == ["reader 0: ACR122U: not recorded: the daemon: the screen is locked"])
    daemon.state.withLock { $0.refusal = nil }
    try await recording.update()
    #expect(await recording.remarks.isEmpty)
    #expect(await recording.finish().traces.map(\.reader) == [Daemon.reader("0")])
  }

  @Test func `a trace that becomes too long ends and is not recorded again`() async throws {
    let daemon = Daemon("0")
    let recording = daemon.recording(mostLines: 3)
    try await recording.update()
    for _ in 1...4 { try daemon.write(.removed, to: "0") }
    daemon.end("0")
    try await recording.update()
    #expect(daemon.state.withLock { $0.sockets.isEmpty })
    let (traces, remarks) = await recording.finish()
    #expect(traces.map(\.lines.count) == [3])
    #expect(remarks == ["reader 0: ACR122U: its recording has ended because it became too long"])
  }

  @Test func `a recording without a reader says so`() async throws {
    let recording = Daemon().recording()
    try await recording.update()
    let (traces, remarks) = await recording.finish()
    #expect(traces.isEmpty && remarks == ["no reader was connected"])
  }
}
