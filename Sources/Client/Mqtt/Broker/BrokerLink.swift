import CShims
import EventLoop
import Glibc

/// One attempt to connect, and the connection that comes of it: a thread, and the way to it.
///
/// libcurl is called on this thread alone, because resolving names and connecting block. Other threads only append to the
/// list of commands and wake the thread.
final class BrokerLink: Sendable {
  /// What the thread has to do.
  enum Command: Sendable {
    case publish(Publication)
    case subscribe([String])
    case close(gracefully: Bool)
  }

  private let commands = Locked<[Command]>([])
  /// The end of the pipe at which the thread waits.
  let woken: FileDescriptor
  private let wakeup: FileDescriptor

  /// Throws if the process has no descriptors left.
  init() throws(SystemError) {
    var ends: [Int32] = [0, 0]
    guard tagroute_pipe(&ends) == 0 else { throw SystemError("make a pipe") }
    (woken, wakeup) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
    // Neither a full pipe nor an empty one may block.
    for end in ends where fcntl(end, F_SETFL, O_NONBLOCK) != 0 { throw SystemError("prepare a pipe") }
  }

  /// Starts the thread. `report` is called on it; the last event is ``BrokerEvent/ended(attempt:_:)``.
  func start(
    _ identity: BrokerIdentity, attempt: UInt64, _ version: MqttVersion,
    report: @escaping @Sendable (BrokerEvent) -> Void
  ) throws(SystemError) {
    // OpenSSL and the resolver need more stack than our own code.
    try DedicatedThread.start(stackSize: 1024 * 1024) { [self] in
      let run = LinkRun(self, identity, attempt: attempt, version, report: report)
      report(.ended(attempt: attempt, run.run()))
    }
  }

  /// Appends a command and wakes the thread.
  func post(_ command: Command) {
    commands.withLock { $0.append(command) }
    var byte: UInt8 = 0
    // A full pipe wakes the thread as well.
    _ = write(wakeup.rawValue, &byte, 1)
  }

  /// The commands since the last call, in order.
  func takeCommands() -> [Command] {
    // Empty the pipe first: a command that comes later wakes the thread again.
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(woken.rawValue, &bytes, bytes.count) > 0 {}
    return commands.withLock { commands in
      let taken = commands
      commands = []
      return taken
    }
  }
}

/// The thread of a ``BrokerLink``: one connection, from its beginning to its end.
final class LinkRun {
  /// How long DISCONNECT may take.
  private static let farewell = Duration.seconds(1)
  /// How often the socket is read before commands are looked at again.
  private static let mostReads = 8

  private let link: BrokerLink
  private let identity: BrokerIdentity
  private let attempt: UInt64
  private let version: MqttVersion
  private let report: @Sendable (BrokerEvent) -> Void
  /// Until when the broker may close the connection after DISCONNECT.
  private var leavingUntil: Duration?

  init(
    _ link: BrokerLink, _ identity: BrokerIdentity, attempt: UInt64, _ version: MqttVersion,
    report: @escaping @Sendable (BrokerEvent) -> Void
  ) {
    (self.link, self.identity, self.attempt, self.version) = (link, identity, attempt, version)
    self.report = report
  }

  /// Returns when the connection has ended.
  func run() -> BrokerEnding {
    guard let socket = BrokerSocket(identity) else { return .lost("libcurl.so.4 cannot be used") }
    if let ending = socket.connect() { return ending }
    var client = MqttClient(identity, version, at: now)
    while true {
      let (ending, hasMore) = step(&client, socket)
      for report in client.takeReports() { pass(report) }
      if let ending { return leavingUntil == nil ? ending : .closed }
      wait(client, socket, isLong: !hasMore)
      if let leavingUntil, now >= leavingUntil { return .closed }
    }
  }

  private var now: Duration { .nanoseconds(SystemClock.monotonic) }

  /// Carries out the commands, and exchanges what can be exchanged at once. Returns how the connection ends, and whether
  /// there may be more to receive.
  private func step(_ client: inout MqttClient, _ socket: BrokerSocket) -> (BrokerEnding?, Bool) {
    for command in link.takeCommands() {
      switch command {
      case .publish(let publication):
        if let ending = client.publish(publication, at: now) { return (ending, false) }
      case .subscribe(let topics): for topic in topics { client.subscribe(topic, at: now) }
      case .close(gracefully: false): return (.closed, false)
      case .close(gracefully: true):
        client.leave(at: now)
        leavingUntil = now + Self.farewell
      }
    }
    if let ending = client.timePassed(now) { return (ending, false) }
    client.sent(socket.send(client.output))
    for _ in 0..<Self.mostReads {
      switch socket.receive(isAnswered: client.answer != nil) {
      case .bytes(let bytes):
        if let ending = client.receive(bytes, at: now) { return (ending, false) }
      case .none: return (nil, false)
      case .ended(let ending): return (ending, false)
      }
    }
    return (nil, true)
  }

  /// Waits for the broker, for a command, or until something is due.
  private func wait(_ client: MqttClient, _ socket: BrokerSocket, isLong: Bool) {
    let interest = POLLIN | (client.output.isEmpty && !socket.isSending ? 0 : POLLOUT)
    var entries = [
      pollfd(fd: socket.descriptor, events: Int16(interest), revents: 0),
      pollfd(fd: link.woken.rawValue, events: Int16(POLLIN), revents: 0),
    ]
    let due = [client.deadline, leavingUntil].compactMap(\.self).min()
    // Rounded up, so that the deadline has passed afterwards.
    let limit = due.map { Int32(clamping: Int64(max(.zero, $0 - now) / .milliseconds(1)) + 1) } ?? -1
    poll(&entries, nfds_t(entries.count), isLong ? limit : 0)
  }

  private func pass(_ event: MqttClient.Report) {
    switch event {
    case .accepted: report(.accepted(attempt: attempt))
    case .confirmed(let token, let code): report(.confirmed(attempt: attempt, token: token, code: Int32(code)))
    case .tooLarge(let token, let isShortened):
      report(.tooLarge(attempt: attempt, token: token, isShortened: isShortened))
    case .notSubscribed(let topic, let code):
      report(.notSubscribed(attempt: attempt, topic: topic, code: Int32(code)))
    case .message(let topic, let payload, let isRetained):
      report(.message(attempt: attempt, topic: topic, payload: payload, isRetained: isRetained))
    }
  }
}
