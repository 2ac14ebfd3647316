import EventLoop
import Glibc
import ReaderProtocol

/// The daemon's end of a link. Reads frames on a loop, and never blocks when it sends.
///
/// Use it only on the loop.
final class ReaderLinkEnd {
  /// Frames without their lengths, and the reason if no more will follow.
  struct Arrival: Sendable {
    enum End { case hungUp, garbage(ReaderLinkError) }

    var payloads: [ArraySlice<UInt8>] = []
    var end: End?
  }

  typealias Handler = @Sendable (Arrival) -> Void

  private let descriptor: FileDescriptor
  private let loop: EventLoop
  private var watch: DescriptorWatch?
  /// Bytes that did not fit into the socket. The process reads them later, or it misses its heartbeat and the daemon
  /// ends it.
  private var unsent: ArraySlice<UInt8> = []
  private let handler: Handler
  private var decoder = FrameDecoder()
  private var isOpen = true
  private var isWaitingForRoom = false

  /// Makes a connected pair: the daemon's end, and the end for the child. `handler` receives the frames on the loop.
  /// Fails if this process has no descriptor left.
  static func pair(
    on loop: EventLoop, handler: @escaping Handler
  ) throws(SystemError) -> (ours: ReaderLinkEnd, theirs: FileDescriptor) {
    let (ours, theirs) = try FileDescriptor.socketPair()
    guard fcntl(ours.rawValue, F_SETFL, O_NONBLOCK) == 0 else { throw SystemError("set up a socket") }
    return (try ReaderLinkEnd(ours, on: loop, handler), theirs)
  }

  private init(_ descriptor: FileDescriptor, on loop: EventLoop, _ handler: @escaping Handler) throws(SystemError) {
    self.descriptor = descriptor
    self.loop = loop
    self.handler = handler
    try watch(for: .reading)
  }

  private func watch(for interest: DescriptorWatch.Interest) throws(SystemError) {
    watch?.cancel()
    // The watch keeps this object alive until the link is closed.
    nonisolated(unsafe) let end = self  // Only used on the loop, which also runs the handler.
    watch = try DescriptorWatch(descriptor, for: interest, on: loop) { end.ready() }
  }

  /// Sends a frame, at once or as soon as there is room. A message to write to a tag is longer than the socket's
  /// buffer. The unsent bytes are bounded: a process that does not read sends no heartbeats either, so the daemon ends
  /// it.
  func send(_ frame: [UInt8]) {
    guard isOpen else { return }
    let isWaiting = !unsent.isEmpty
    unsent += frame
    if !isWaiting { flush() }
  }

  private func flush() {
    let wasWaiting = isWaitingForRoom
    while !unsent.isEmpty {
      let count = unsent.withUnsafeBytes {
        Glibc.send(descriptor.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0 && errno == EINTR { continue }
      if count < 0 && errno == EAGAIN { break }
      // The process has closed its end. The next read reports that.
      guard count > 0 else {
        unsent = []
        break
      }
      unsent = unsent.dropFirst(count)
    }
    isWaitingForRoom = !unsent.isEmpty
    if unsent.isEmpty { unsent = [] }
    guard isWaitingForRoom != wasWaiting else { return }
    do throws(SystemError) {
      try watch(for: isWaitingForRoom ? [.reading, .writing] : .reading)
    } catch {
      // Without a watch, no heartbeat arrives, so the daemon ends the process.
      watch = nil
    }
  }

  private func ready() {
    if isWaitingForRoom { flush() }
    readable()
  }

  /// Reads the remaining bytes of a process that has ended.
  func drain() {
    // A full socket takes several reads, and the end of the stream one more.
    for _ in 0..<32 where isOpen { readable() }
  }

  func close() {
    isOpen = false
    watch?.cancel()
    watch = nil
  }

  private func readable() {
    guard isOpen else { return }
    var bytes = [UInt8](repeating: 0, count: 16 * 1024)
    let count = read(descriptor.rawValue, &bytes, bytes.count)
    if count < 0 && (errno == EAGAIN || errno == EINTR) { return }
    var arrival = Arrival()
    if count > 0 {
      decoder.append(bytes.prefix(count))
      do throws(ReaderLinkError) {
        while let payload = try decoder.next() { arrival.payloads.append(payload) }
      } catch {
        arrival.end = .garbage(error)
      }
    } else {
      arrival.end = .hungUp
    }
    if arrival.end != nil { close() }
    handler(arrival)
  }
}
