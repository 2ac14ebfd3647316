import EventLoop
import Glibc
import Names
import ReaderKit
import ReaderModels
import ReaderProtocol

/// Lists the readers that pcscd has.
///
/// It never connects to a card. It asks the driver of a contactless reader for its USB numbers, and leaves every other
/// reader alone.
struct ReaderListing {
  /// How often to ask for the USB numbers of a reader that another program uses.
  private static let busyPause = Duration.seconds(2)

  let socket: ServiceSocket

  static func names() throws(PCSCError) -> [String] {
    let context = try PCSCContext.establish()
    defer { context.release() }
    return try context.readers().map(\.text)
  }

  /// Sends lists to the daemon, until it closes the link or `end` is readable. Returns false if the system has no
  /// thread left.
  func watch(link: Int32, end: Int32) -> Bool {
    do throws(SystemError) {
      // Calls to pcscd block, and only the end of the process ends them.
      try DedicatedThread.start { [socket] in Self.watch(socket, link) }
    } catch {
      return false
    }
    // The daemon sends nothing.
    var entries = [link, end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&entries, nfds_t(entries.count), -1) <= 0 {}
    return true
  }

  private static func watch(_ watched: ServiceSocket, _ link: Int32) {
    var socket = watched
    var last: ReaderList?
    func send(_ list: ReaderList) {
      // The end of the link ends the process.
      if list != last { try? DaemonChannel(descriptor: link).send(list.frame) }
      last = list
    }
    while true {
      // Before the attempt, so that a pcscd that starts after it is noticed.
      let isWatched = socket.watch()
      _ = socket.drain()
      var connectedAt: SuspendingClock.Instant?
      do throws(PCSCError) {
        let context = try PCSCContext.establish()
        connectedAt = .now
        socket.stopWatching()
        defer { context.release() }
        var watch = try ListWatch(context)
        var known: [ReaderName: PCSCReader] = [:]
        while true {
          let (list, isWhole) = list(watch.readers, &known, context)
          send(list)
          let before = watch.readers
          try watch.wait(atMost: isWhole ? nil : busyPause)
          if !Set(before).isSubset(of: watch.readers) { try watch.confirm() }
        }
      } catch {
        // The next attempt tells why pcscd has closed the connection. It may also start pcscd, and systemd gives up a
        // service that it has to start too often, for all programs.
        if let connectedAt, error.endsContext {
          ListWatch.pauseBriefly()
          pause(until: connectedAt + CardReader.successorPause)
          continue
        }
        let problem = PCSCProblem(error)
        send(.problem(problem))
        wait(for: isWatched && problem.kind == .noService ? socket : nil, atMost: problem.pause)
      }
    }
  }

  /// `socket` is nil if no change near it is a reason for another attempt.
  private static func wait(for socket: ServiceSocket?, atMost limit: Duration) {
    var entry = pollfd(fd: socket?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
    // A socket without a pcscd may begin to work without any change near it.
    let isLimited = socket?.exists ?? true
    _ = poll(&entry, 1, isLimited ? Int32(limit / .milliseconds(1)) : -1)
    ListWatch.pauseBriefly()
  }

  private static func pause(until end: SuspendingClock.Instant) {
    let rest = SuspendingClock.now.duration(to: end)
    if rest > .zero { usleep(UInt32(rest / .microseconds(1))) }
  }

  /// `isWhole`: the USB numbers of each reader are known. `known` holds the readers of the list before.
  private static func list(
    _ names: [ReaderName], _ known: inout [ReaderName: PCSCReader], _ context: PCSCContext
  ) -> (list: ReaderList, isWhole: Bool) {
    // From pcsc-lite 2.5 on, there may be more readers. Those that the daemon may use come first.
    let isCut = names.count > ReaderList.most
    let first = isCut ? names.filter { ReaderModel.isContactlessName($0.text) } : names
    let others = isCut ? names.filter { !ReaderModel.isContactlessName($0.text) } : []
    let shown = (first + others).prefix(ReaderList.most)
    known = known.filter { shown.contains($0.key) }
    let readers = shown.map { name -> PCSCReader in
      known[name] = known[name] ?? ReaderFacts.reader(name, context)
      return known[name] ?? PCSCReader(name: name.text)
    }
    return (.readers(readers), known.count == shown.count)
  }
}
