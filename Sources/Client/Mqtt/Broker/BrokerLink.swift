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
