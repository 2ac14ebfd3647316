import EventLoop
import Glibc
import Names
import ReaderModels

/// Prints the readers that pcscd has, each time that they change, in the format that `PCSCListing` of ReaderLink parses.
///
/// It never connects to a card. It asks the driver of a contactless reader for its USB numbers, and leaves every other
/// reader alone.
struct ReaderListing {
  /// How often to ask for the USB numbers of a reader that another program uses.
  private static let busyPause = Duration.seconds(2)
  /// The most readers in a list.
  private static var most: Int { Names.PCSC.mostReaders }

  let socket: ServiceSocket

  /// Prints one block, and returns the exit code.
  func printOnce() -> Int32 {
    do throws(PCSCError) {
      let context = try PCSCContext.establish()
      defer { context.release() }
      var facts: [ReaderName: ReaderFacts] = [:]
      Self.send(Self.block(try context.readers(), &facts, context).text)
      return 0
    } catch {
      Self.send(Self.block(ServiceProblem(error)))
      return Names.ExitCode.failure
    }
  }

  /// Prints blocks until one of the descriptors is readable or closed. Returns false if the system has no thread left.
  func watch(endsWith descriptors: [Int32]) -> Bool {
    do throws(SystemError) {
      // Calls to pcscd block, and only the end of the process ends them.
      try DedicatedThread.start { [socket] in Self.watch(socket) }
    } catch {
      return false
    }
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&entries, nfds_t(entries.count), -1) <= 0 {}
    return true
  }

  private static func watch(_ watched: ServiceSocket) {
    var socket = watched
    var last = ""
    func show(_ block: String) {
      if block != last { send(block) }
      last = block
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
        var list = try ListWatch(context)
        var facts: [ReaderName: ReaderFacts] = [:]
        while true {
          let block = block(list.readers, &facts, context)
          show(block.text)
          let before = list.readers
          try list.wait(atMost: block.isWhole ? nil : busyPause)
          if !Set(before).isSubset(of: list.readers) { try list.confirm() }
        }
      } catch {
        // The next attempt tells why pcscd has closed the connection. It may also start pcscd, and systemd gives up a
        // service that it has to start too often, for all programs.
        if let connectedAt, error.endsContext {
          ListWatch.pauseBriefly()
          pause(until: connectedAt + CardReader.successorPause)
          continue
        }
        let problem = ServiceProblem(error)
        show(block(problem))
        wait(for: isWatched && problem == .noService ? socket : nil, atMost: problem.pause)
      }
    }
  }

  /// Waits until another attempt makes sense. `socket` is nil if no change near it is a reason for one.
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

  // MARK: Blocks

  private static func block(
    _ readers: [ReaderName], _ facts: inout [ReaderName: ReaderFacts], _ context: PCSCContext
  ) -> (text: String, isWhole: Bool) {
    // From pcsc-lite 2.5 on, there may be more readers. Those that the daemon may use come first.
    let isCut = readers.count > most
    let first = isCut ? readers.filter { ReaderModel.isContactlessName($0.text) } : readers
    let others = isCut ? readers.filter { !ReaderModel.isContactlessName($0.text) } : []
    let shown = (first + others).prefix(most)
    facts = facts.filter { shown.contains($0.key) }
    let lines = shown.map { name -> String in
      facts[name] = facts[name] ?? ReaderFacts.ofContactless(name, context)
      return "\((facts[name] ?? ReaderFacts()).text) \(name.text)\n"
    }
    return ("readers \(lines.count)\n" + lines.joined(), facts.count == shown.count)
  }

  private static func block(_ problem: ServiceProblem) -> String { "problem \(problem.keyword) \(problem.reason)\n" }

  private static func send(_ block: String) {
    var rest = Array(block.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
