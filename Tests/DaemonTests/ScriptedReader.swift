import EventLoop
import Glibc
import ReaderLink
import TestSupport

/// Stands where `tagroute-reader` does, and says on the link what a test wants said.
///
/// The process is a shell that copies a named pipe to the link and the link to another; the words are made here. Orders to
/// scan are answered as a good reader does.
final class ScriptedReader: Sendable {
  /// What the daemon ordered, in order.
  let commands: AsyncStream<ReaderCommand>
  private let actor: Mouth

  /// The connection string of the device that it has.
  let device: String

  /// Makes the pipes and the program in `directory`, where `tagrouted` has to be too. `name` is the last part of the
  /// device's path; the process of a device that is nobody's has "scripted".
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
      if [ "$1" = --list ]; then cat found 2>/dev/null; exit 0; fi
      for device; do :; done
      cd "${device##*/}" 2>/dev/null || cd scripted || exit 1
      echo "$@" >arguments
      cat <&3 >orders &
      exec cat feed >&3
      """, to: "tagroute-reader", mode: 0o755)
    let continuation: AsyncStream<ReaderCommand>.Continuation
    (commands, continuation) = AsyncStream.makeStream()
    // Open at both ends, so that neither is ever at the end of the file.
    actor = try Mouth(
      feed: FileDescriptor(owning: open(feed, O_RDWR | O_CLOEXEC)),
      orders: FileDescriptor(owning: open(orders, O_RDWR | O_CLOEXEC | O_NONBLOCK)), continuation)
    actor.begin()
  }

  /// Says something to the daemon.
  func say(_ messages: ReaderMessage...) async { await actor.say(messages) }

  /// Whether it does what it is told, and says so; or leaves that to `say`.
  func answersOrders(_ answers: Bool) async { await actor.setAnswersOrders(answers) }

  /// Does what it was told meanwhile, and says so; from here on at once.
  func catchesUp() async { await actor.catchUp() }

  /// Says what may be no message.
  func say(bytes: [UInt8]) async { await actor.write(bytes) }

  /// The device is there and can be used.
  func becomeReady() async {
    await say(.state(.ready(name: "Scripted", device: device)), .heartbeat(within: 0))
  }

  /// A tag is put on the reader, read, and taken away.
  func tap(_ content: TagReport.Content, number: UInt64 = 1) async {
    let placement = Placement(number: number, technology: "type-2", uid: [4, 1, 2, 3, 4, 5, 6])
    await say(
      .examining(placement), .tag(TagReport(placement: placement, content: content)), .removed(placement: number))
  }
}

/// The test's ends of the pipes.
private actor Mouth {
  private let loop = EventLoop(label: "reader")
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private let feed: FileDescriptor
  private let orders: FileDescriptor
  private let continuation: AsyncStream<ReaderCommand>.Continuation
  private var decoder = FrameDecoder()
  private var answersOrders = true
  private var unanswered: [Bool] = []
  private var watch: DescriptorWatch?

  init(
    feed: FileDescriptor, orders: FileDescriptor, _ continuation: AsyncStream<ReaderCommand>.Continuation
  ) throws {
    self.feed = feed
    self.orders = orders
    self.continuation = continuation
  }

  nonisolated func begin() {
    loop.execute { [weak self] in
      self?.assumeIsolated { actor in
        actor.watch = try? DescriptorWatch(actor.orders, on: actor.loop) { [weak self] in
          self?.assumeIsolated { $0.hear() }
        }
      }
    }
  }

  func setAnswersOrders(_ answers: Bool) { answersOrders = answers }

  func catchUp() {
    for isOn in unanswered { answer(isOn) }
    unanswered = []
    answersOrders = true
  }

  private func answer(_ isOn: Bool) {
    say([.scanning(isOn)] + (isOn ? [] : [.stopped]) + [.heartbeat(within: 0)])
  }

  func say(_ messages: [ReaderMessage]) {
    for message in messages { write(message.frame) }
  }

  func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(feed.rawValue, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  private func hear() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(orders.rawValue, &buffer, buffer.count)
    guard count > 0 else { return }
    decoder.append(buffer[..<count])
    while let payload = try? decoder.next(), let command = try? ReaderCommand(payload: payload) {
      if case .scan(let isOn) = command {
        if answersOrders { answer(isOn) } else { unanswered.append(isOn) }
      }
      continuation.yield(command)
    }
  }
}
