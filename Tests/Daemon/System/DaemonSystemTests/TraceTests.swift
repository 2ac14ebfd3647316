import Bus
import EventLoop
import Glibc
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import Daemon
@testable import DaemonTests

/// The real `tagrouted` with a scripted reader: who may record the reader, and when the trace ends.
@Suite(.timeLimit(.minutes(5))) struct TraceTests {
  /// A scanning daemon, and a client that records the reader.
  private final class Recording {
    let rig: DaemonRig
    let agent: AgentDouble
    let client: SessionClient
    /// Nil after `close()`.
    private var trace: FileDescriptor?

    init() async throws {
      (rig, agent) = try await DaemonRig.scanning(allowing: DaemonRig.clientActions)
      client = try await rig.client()
      trace = try await Self.record(client)
      try await restarted()
    }

    static func record(_ client: SessionClient) async throws -> FileDescriptor {
      let reply = try await client.connection.call(
        Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "RecordReader",
        [.dictionary([:])])
      return try #require(reply.first?.asUnixFD)
    }

    /// The name of the error with which another recording is refused; nil if it begins.
    func refusal() async -> String? {
      await AgentDouble.errorName { [client] in _ = try await Self.record(client) }
    }

    /// Waits for the next process, and makes its device ready.
    func restarted(scanning isOn: Bool = true) async throws {
      _ = try await rig.command { if case .shutDown = $0 { true } else { nil } }
      try await rig.scanning(isOn)
      let seen = await rig.daemon.log().count
      await rig.reader.becomeReady()
      try await rig.daemon.line(containing: "is ready", after: seen)
    }

    /// Whether the present process was started to write a trace.
    func isTraced() throws -> Bool {
      let arguments = String(decoding: try readFile(rig.directory.file("scripted/arguments")), as: UTF8.self)
      return arguments.contains("--trace")
    }

    func close() { trace = nil }

    func hasEnded() async throws { try await rig.daemon.line(containing: "the trace of reader 0 has ended") }

    /// Waits for the end of the trace, and returns its lines.
    func rest() async throws -> [String] {
      let trace = try #require(trace)
      return try await DedicatedThread.run {
        var lines: [String] = []
        var buffer = [UInt8](repeating: 0, count: TraceLine.longest + 1)
        while true {
          let count = recv(trace.rawValue, &buffer, buffer.count, 0)
          guard count > 0 else { return lines }
          lines.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
      }
    }
  }

  @Test func `taps go on while a client records, and after it has closed the trace`() async throws {
    let recording = try await Recording()
    #expect(try recording.isTraced())
    for round in 1...2 {
      await recording.rig.reader.tap(.message(Samples.message))
      #expect(try await recording.agent.taps.nextMessage() == Samples.message)
      guard round == 1 else { break }
      recording.close()
      try await recording.hasEnded()
      try await recording.restarted()
      #expect(try !recording.isTraced())
    }
  }

  @Test func `a trace ends when the session locks, and none begins before it is unlocked`() async throws {
    let recording = try await Recording()
    let logind = try #require(recording.rig.logind)
    try await logind.update("2") { $0.isLocked = true }
    #expect(try await recording.rest() == [ScriptedReader.header + "\n"])
    #expect(await recording.refusal() == Names.Errors.notAuthorized)
    try await recording.restarted(scanning: false)
    try await logind.update("2") { $0.isLocked = false }
    try await recording.rig.scanning(true)
    #expect(await recording.refusal() == nil)
  }

  @Test func `a reader has one trace`() async throws {
    let recording = try await Recording()
    #expect(await recording.refusal() == Names.Errors.notPossible)
    #expect(try recording.isTraced())
  }

  @Test func `a reader session goes on when a trace ends`() async throws {
    let recording = try await Recording()
    let (rig, client) = (recording.rig, recording.client)
    let session = try await client.start()
    _ = try await rig.begin()
    try await client.expect("Activated", of: session)
    recording.close()
    try await recording.hasEnded()
    await rig.reader.find(ReaderSessionTests.tag())
    try await client.expect("TagDetected")
    // The next recording restarts the reader, with which the session ends.
    #expect(await recording.refusal() == nil)
    try await client.expect("TagRemoved")
    #expect(try await client.expect("Ended", of: session).first == .string("reader-lost"))
  }
}
