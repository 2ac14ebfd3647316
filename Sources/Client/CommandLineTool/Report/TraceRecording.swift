import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient

/// Records the traces of all readers, also of those that are connected meanwhile. The loop owns this actor.
actor TraceRecording {
  struct Reader: Sendable, Hashable {
    let path: String
    /// For people.
    let label: String
    /// For the name of the file.
    let number: Int
  }

  struct Trace: Sendable {
    let reader: Reader
    fileprivate(set) var lines: [TraceLine] = []
    fileprivate var bytes = 0
    /// Whether it may have no more lines.
    fileprivate var isFull = false
  }

  /// What the daemon is asked for.
  struct Source: Sendable {
    let readers: @Sendable () async throws(BusError) -> [Reader]
    /// Returns a socket. Each message is one line.
    let record: @Sendable (Reader) async throws(BusError) -> FileDescriptor
  }

  /// The most bytes of each trace.
  private static let mostBytes = 64 << 20

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop
  private let source: Source
  /// Of each trace.
  private let mostLines: Int
  /// One for each reader. A reader that is recorded again continues its trace.
  private(set) var traces: [Trace] = []
  /// Why traces have gaps, or ended early.
  private var ends: [String] = []
  /// Why a reader is not recorded, by its path.
  private var failures: [String: String] = [:]
  private var sockets: [String: (socket: FileDescriptor, watch: DescriptorWatch)] = [:]
  private var buffer = [UInt8](repeating: 0, count: TraceLine.longest + 1)

  init(_ source: Source, on loop: EventLoop, mostLines: Int = 200_000) {
    (self.source, self.loop, self.mostLines) = (source, loop, mostLines)
  }

  /// What a person should know who reads the traces.
  var remarks: [String] { failures.sorted { $0.key < $1.key }.map(\.value) + ends }

  /// Begins to record the readers that are not recorded. Call it whenever the readers may have changed, but not before
  /// the last call has ended.
  func update() async throws(BusError) {
    let readers = try await source.readers()
    drain()
    failures = failures.filter { path, _ in readers.contains { $0.path == path } }
    for reader in readers where sockets[reader.path] == nil && !isFull(reader) {
      do throws(BusError) {
        try begin(reader, try await source.record(reader))
        failures[reader.path] = nil
      } catch {
        failures[reader.path] = "reader \(reader.label): not recorded: \(Failure(error, from: .daemon).message)"
      }
    }
  }

  private func isFull(_ reader: Reader) -> Bool { traces.contains { $0.reader.path == reader.path && $0.isFull } }

  private func begin(_ reader: Reader, _ socket: FileDescriptor) throws(BusError) {
    let index = traces.firstIndex { $0.reader.path == reader.path } ?? traces.endIndex
    if index == traces.endIndex { traces.append(Trace(reader: reader)) }
    do throws(SystemError) {
      let watch = try DescriptorWatch(socket, on: loop) { [weak self] in
        self?.assumeIsolated { _ = $0.receive(index) }
      }
      sockets[reader.path] = (socket, watch)
    } catch {
      throw BusError(name: Names.Errors.failed, message: "\(error)")
    }
  }

  /// Returns whether there may be more.
  private func receive(_ index: Int) -> Bool {
    let reader = traces[index].reader
    guard let socket = sockets[reader.path]?.socket else { return false }
    let count = recv(socket.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    if count < 0, errno == EAGAIN || errno == EINTR { return false }
    guard count > 0 else {
      end(reader, "the daemon has ended its recording")
      return false
    }
    traces[index].bytes += count
    guard traces[index].lines.count < mostLines, traces[index].bytes <= Self.mostBytes else {
      traces[index].isFull = true
      end(reader, "its recording has ended because it became too long")
      return false
    }
    // A line of a later version may be unknown. The daemon is not suspected of anything worse.
    if let line = try? TraceLine.read(Array(buffer[..<count])) { traces[index].lines.append(line) }
    return true
  }

  private func drain() { for index in traces.indices { while receive(index) {} } }

  private func end(_ reader: Reader, _ reason: String) {
    sockets.removeValue(forKey: reader.path)?.watch.cancel()
    ends.append("reader \(reader.label): \(reason)")
  }

  /// Ends the recordings.
  func finish() -> (traces: [Trace], remarks: [String]) {
    drain()
    sockets = [:]
    return (traces, traces.isEmpty && remarks.isEmpty ? ["no reader was connected"] : remarks)
  }

  // MARK: Standard input

  /// Returns when a line of standard input has arrived, or after `duration`. Does not block the caller's thread.
  static func untilInput(orAfter duration: Duration) async throws(SystemError) {
    let end = SuspendingClock.now + duration
    try await DedicatedThread.run {
      var input = STDIN_FILENO
      while true {
        let left = SuspendingClock.now.duration(to: end) / .milliseconds(1)
        guard left > 0 else { return }
        // poll(2) ignores a negative descriptor.
        var entry = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, Int32(clamping: Int64(left.rounded(.up)))) > 0 else { continue }
        if readLine() != nil { return }
        // A script may have no input.
        input = -1
      }
    }
  }
}

extension TraceRecording.Source {
  /// Keeps the client, and so its connection.
  init(_ client: DaemonClient) {
    self.init(
      readers: { () throws(BusError) in
        try await client.status().readers.map { reader in
          TraceRecording.Reader(
            path: reader.path, label: ReaderChoice.text(for: reader), number: ReaderChoice.number(of: reader) ?? 0)
        }
      },
      record: { reader throws(BusError) in try await client.recordReader(try ObjectPath(reader.path)) })
  }
}
