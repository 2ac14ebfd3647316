import Bus
import EventLoop
import Glibc
import Journal
import Names

/// The traces that clients record (docs/traces.md). Only the reader process writes to a trace, and the daemon decides
/// when it ends: when the client closes its descriptor, when its user may no longer read tags, or after `longest`.
@DaemonLoop final class ReaderTraces {
  private static let longest = Duration.seconds(600)

  private struct Trace {
    let uid: UInt32
    let process: ReaderProcess
    /// The daemon's end, to which the process writes.
    let socket: FileDescriptor
    let watch: DescriptorWatch
    let end: LoopTimer
  }

  private let core: DaemonCore
  private let authorization: Authorization
  private let processes: ReaderProcesses
  /// By the reader's number.
  private var traces: [Int: Trace] = [:]

  init(_ core: DaemonCore, _ authorization: Authorization, _ processes: ReaderProcesses) {
    (self.core, self.authorization, self.processes) = (core, authorization, processes)
  }

  func start(_ call: IncomingCall) async throws -> [Value] {
    let options = call.arguments.first?.asDictionary ?? [:]
    var path: ObjectPath?
    if let value = options["reader"] {
      path = value.asObjectPath
      guard path != nil else { throw BusError.invalidArgument("reader is not an object path") }
    }
    let uid = try await authorization.authorize(call, Names.PolkitAction.readTags, to: "record a reader").uid
    let reader = try reader(path, for: uid)
    guard traces[reader] == nil else { throw BusError.notPossible("another trace of the reader is being recorded") }
    guard let process = processes[reader]?.process else { throw BusError.notPossible("no program drives the reader") }
    return [.unixFD(try record(reader, process, for: uid))]
  }

  /// Returns the client's end of the trace.
  private func record(_ reader: Int, _ process: ReaderProcess, for uid: UInt32) throws(BusError) -> FileDescriptor {
    do throws(SystemError) {
      let (ours, theirs) = try FileDescriptor.socketPair(keepsMessages: true)
      let watch = try DescriptorWatch(ours, on: DaemonLoop.loop) { [weak self] in
        DaemonLoop.assumeIsolated { self?.end(reader) }
      }
      let end = DaemonLoop.schedule(after: Self.longest) { [weak self] in self?.end(reader) }
      traces[reader] = Trace(uid: uid, process: process, socket: ours, watch: watch, end: end)
      core.log(.notice, ofUser: uid, "user \(uid) records what passes between Tagroute and reader \(reader)")
      process.assumeIsolated { $0.record(in: ours) }
      return theirs
    } catch {
      throw BusError(name: Names.Errors.failed, message: "\(error)")
    }
  }

  /// Ends the traces of users who may no longer read tags there, and of readers that are gone.
  func check() {
    for (reader, trace) in traces where !mayRead(reader, trace.uid) || processes[reader]?.process !== trace.process {
      end(reader)
    }
  }

  private func end(_ reader: Int) {
    guard let trace = traces.removeValue(forKey: reader) else { return }
    // First, because the process writes until it ends, and the user may have lost the right.
    shutdown(trace.socket.rawValue, Int32(SHUT_RDWR))
    trace.watch.cancel()
    trace.end.cancel()
    core.log(.info, ofUser: trace.uid, "the trace of reader \(reader) has ended")
    // A reader session would end with the process, which costs more than a process that writes in vain.
    let isFree = core.state.sessions.occupant(of: reader) == nil
    trace.process.assumeIsolated { $0.endRecording(restarts: isFree) }
  }

  private func reader(_ path: ObjectPath?, for uid: UInt32) throws(BusError) -> Int {
    guard !core.state.readers.all.isEmpty else { throw .notPossible("there is no reader: connect one") }
    let found = path.map { core.state.readers.number(at: $0) } ?? core.state.reader(for: uid)
    if let path, found == nil { throw .notPossible("there is no reader \(path)") }
    guard let found, mayRead(found, uid) else {
      throw .notAuthorized(
        "you may not record a reader: user \(uid) has no active, unlocked session on the reader's seat, or a reader "
          + "session of another user has the reader")
    }
    return found
  }

  /// As for a reader session. With `Sessions=any`, a session of another user may have the reader.
  private func mayRead(_ reader: Int, _ uid: UInt32) -> Bool {
    guard let seat = core.state.readers[reader]?.properties.seat else { return false }
    let session = core.state.sessions.occupant(of: reader).flatMap { core.state.sessions[$0] }
    return (session?.uid ?? uid) == uid && core.state.seats.obstacle(to: uid, on: seat) == nil
  }
}
