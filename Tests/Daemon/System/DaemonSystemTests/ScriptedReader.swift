import EventLoop
import Glibc
import Names
import ReaderProtocol
import TestKit

/// A stand-in for `tagroute-reader` that sends the messages of a test on the link. `tagroute-reader-pcsc` is the same,
/// and repeats pcscd's lists from the named pipe `lists`, if the rig has made one.
///
/// If the daemon wants a trace, its first line is `header`.
///
/// The process is a shell that copies a named pipe to the link, and the link to another named pipe. The test writes and
/// reads the pipes, on its own thread. As a correct reader, it sends heartbeats, reaches the goals `off` and `scan`
/// at once, and exits when it is asked to.
final class ScriptedReader: Sendable {
  static let header = #"{"trace":1,"program":"scripted","library":"none"}"#

  /// The daemon's commands, in order.
  let commands: AsyncStream<ReaderCommand>
  private let ends: PipeEnds

  /// The connection string of its device.
  let device: String

  /// Makes the pipes and the program in `directory`, which has to contain `tagrouted` too. `name` is the last part of
  /// the device's path. The process of a device without a scripted reader uses the one with the name "scripted".
  init(in directory: TemporaryDirectory, name: String = "scripted") throws {
    device = "pn532_uart:/dev/\(name)"
    mkdir(directory.file(name), 0o700)
    let feed = directory.file("\(name)/feed")
    let orders = directory.file("\(name)/orders")
    guard mkfifo(feed, 0o600) == 0, mkfifo(orders, 0o600) == 0 else { throw SystemError("make a named pipe") }
    try directory.write(
      """
      #!/bin/sh
      cd "${0%/*}" || exit 1
      if [ "$1" = --list ]; then cat found >&3 2>/dev/null; exit 0; fi
      for device; do :; done
      cd "${device##*/}" 2>/dev/null || cd scripted || exit 1
      echo "$@" >arguments
      case " $* " in *" --trace "*) echo '\(Self.header)' ;; esac
      cat <&3 >orders &
      exec cat feed >&3
      """, to: "tagroute-reader", mode: 0o755)
    try directory.write(
      """
      #!/bin/sh
      cd "${0%/*}" || exit 1
      if [ "$1" != --list ]; then exec ./tagroute-reader "$@"; fi
      cat lists >&3 &
      cat <&3 >/dev/null
      kill $!
      echo "the watch has ended" >&2
      """, to: "tagroute-reader-pcsc", mode: 0o755)
    let continuation: AsyncStream<ReaderCommand>.Continuation
    (commands, continuation) = AsyncStream.makeStream()
    // Open for reading and writing, so that it never reads an end of file.
    ends = PipeEnds(
      feed: feed, orders: FileDescriptor(owning: open(orders, O_RDWR | O_CLOEXEC | O_NONBLOCK)), continuation)
    ends.begin()
  }

  func send(_ messages: ReaderMessage...) async { await ends.send(messages) }

  /// Sets whether it reaches `off` and `scan` at once.
  func answersOrders(_ answers: Bool) async { await ends.setAnswersOrders(answers) }

  func reach() async { await ends.reach() }

  /// Reports that it has reached its latest goal. It reaches later goals at once.
  func catchesUp() async {
    // First, so that the reader also reaches a goal that arrives in between.
    await answersOrders(true)
    await reach()
  }

  func find(_ tag: SessionTag) async { await ends.find(tag) }

  func endRound() async { await ends.endRound() }

  func restartPolling() async { await ends.restartPolling() }

  /// Sends bytes that need not be a message.
  func send(bytes: [UInt8]) async { await ends.write(bytes) }

  /// Announces a message for the next millisecond, and sends no more heartbeats.
  func wedge() async { await ends.wedge() }

  func becomeReady() async { await send(.state(.ready(name: "Scripted", device: device))) }

  /// A tag is put on the reader, read, and taken away.
  func tap(_ content: TagReport.Content, number: UInt64 = 1) async {
    let placement = Placement(number: number, technology: .type2, uid: [4, 1, 2, 3, 4, 5, 6])
    await ends.tap(TagReport(placement: placement, content: content))
  }
}

private actor PipeEnds {
  private let loop = EventLoop(label: "reader")
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private let path: String
  /// The pipe to the process. The process exits when it is closed.
  private var feed: FileDescriptor?
  private let orders: FileDescriptor
  private let continuation: AsyncStream<ReaderCommand>.Continuation
  private var decoder = FrameDecoder()
  private var answersOrders = true
  private var isWedged = false
  /// The latest goal. `reached` is the epoch of the goal that the reader has reached.
  private var order: (epoch: UInt64, goal: ReaderGoal) = (0, .off)
  private var reached: UInt64 = 0
  private var isReady = false
  private var watch: DescriptorWatch?
  private var beat: LoopTimer?

  init(feed path: String, orders: FileDescriptor, _ continuation: AsyncStream<ReaderCommand>.Continuation) {
    self.path = path
    self.orders = orders
    self.continuation = continuation
  }

  nonisolated func begin() {
    loop.execute { [weak self] in
      self?.assumeIsolated { actor in
        actor.watch = try? DescriptorWatch(actor.orders, on: actor.loop) { [weak self] in
          self?.assumeIsolated { $0.receive() }
        }
      }
    }
  }

  /// Promises the next message within 20 s, the longest time that is allowed, and keeps the promise.
  private func sendHeartbeat() {
    guard !isWedged else { return }
    write(ReaderMessage.heartbeat(within: 20_000).frame)
    beat?.cancel()
    beat = loop.schedule(after: .seconds(5)) { [weak self] in self?.assumeIsolated { $0.sendHeartbeat() } }
  }

  func wedge() {
    isWedged = true
    write(ReaderMessage.heartbeat(within: 1).frame)
  }

  func setAnswersOrders(_ answers: Bool) { answersOrders = answers }

  func reach() {
    reached = order.epoch
    send([.reached(epoch: reached)])
  }

  func find(_ tag: SessionTag) { send([.sessionTag(epoch: reached, tag)]) }

  func endRound() { send([.sessionRoundEnded(epoch: reached)]) }

  func restartPolling() { send([.sessionPollingRestarted(epoch: reached)]) }

  func tap(_ report: TagReport) {
    send([.examining(report.placement), .tag(epoch: reached, report), .removed(placement: report.placement.number)])
  }

  func send(_ messages: [ReaderMessage]) {
    for message in messages {
      write(message.frame)
      guard case .state(let state) = message else { continue }
      if case .ready = state { isReady = true } else { isReady = false }
      if isReady { reachIfPossible() }
    }
  }

  private func reachIfPossible() {
    switch order.goal {
    case .off where answersOrders: reach()
    case .scan where answersOrders && isReady: reach()
    default: break
    }
  }

  func write(_ bytes: [UInt8]) {
    // Open for reading too, so that this does not wait for the process.
    let pipe = feed ?? FileDescriptor(owning: open(path, O_RDWR | O_CLOEXEC))
    feed = pipe
    try? pipe.write(bytes)
  }

  private func receive() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(orders.rawValue, &buffer, buffer.count)
    guard count > 0 else { return }
    decoder.append(buffer[..<count])
    while let payload = try? decoder.next(), let command = try? ReaderCommand(payload: payload) {
      switch command {
      case .shutDown:
        beat?.cancel()
        feed = nil
      case .goal(let epoch, let goal, _):
        order = (epoch, goal)
        sendHeartbeat()
        reachIfPossible()
      default: break
      }
      continuation.yield(command)
    }
  }
}

extension ReaderCommand {
  /// The goal that the command sets; nil if it is another command.
  var goal: ReaderGoal? { if case .goal(_, let goal, _) = self { goal } else { nil } }

  /// Whether the command sets the goal to scan; nil if it sets no goal.
  var isScan: Bool? { goal.map { if case .scan = $0 { true } else { false } } }
}
