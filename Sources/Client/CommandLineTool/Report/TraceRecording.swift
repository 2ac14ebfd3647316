import EventLoop
import Glibc
import Names

/// Records the traces of readers until the user ends it.
struct TraceRecording: Sendable {
  /// The most lines of each trace, and their bytes.
  private static let mostLines = 200_000
  private static let mostBytes = 64 << 20
  /// Of a message of the socket, which has one line.
  private static let room = TraceLine.longest + 1

  struct Reader: Sendable {
    /// For people, and for the name of the file.
    let label: String
    let number: Int
    let socket: FileDescriptor
  }

  let readers: [Reader]

  /// The lines of each trace. Ends after `duration`, when all traces have ended, or when a line of standard input
  /// arrives. Does not block the caller's thread.
  func run(for duration: Duration) async throws(SystemError) -> [[TraceLine]] {
    try await DedicatedThread.run { wait(until: .now + duration) }
  }

  private func wait(until end: SuspendingClock.Instant) -> [[TraceLine]] {
    var input = STDIN_FILENO
    var traces = [[TraceLine]](repeating: [], count: readers.count)
    var bytes = [Int](repeating: 0, count: readers.count)
    var open = Set(readers.indices)
    var buffer = [UInt8](repeating: 0, count: Self.room)
    while !open.isEmpty {
      let left = SuspendingClock.now.duration(to: end) / .milliseconds(1)
      guard left > 0 else { break }
      var entries = readers.indices.map { index in
        // poll(2) ignores a negative descriptor.
        pollfd(fd: open.contains(index) ? readers[index].socket.rawValue : -1, events: Int16(POLLIN), revents: 0)
      }
      entries.append(pollfd(fd: input, events: Int16(POLLIN), revents: 0))
      guard poll(&entries, nfds_t(entries.count), Int32(clamping: Int64(left.rounded(.up)))) > 0 else { continue }
      for index in open where entries[index].revents != 0 {
        let count = recv(readers[index].socket.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { continue }
        bytes[index] += max(count, 0)
        guard count > 0, traces[index].count < Self.mostLines, bytes[index] <= Self.mostBytes else {
          open.remove(index)
          continue
        }
        // A line of a later version may be unknown. The daemon is not suspected of anything worse.
        if let line = try? TraceLine.read(Array(buffer[..<count])) { traces[index].append(line) }
      }
      if entries[readers.count].revents != 0 {
        // A script may have no input.
        guard readLine() == nil else { break }
        input = -1
      }
    }
    return traces
  }
}
