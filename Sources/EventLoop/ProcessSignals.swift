import CShims
import Glibc

/// Signals as an asynchronous sequence.
///
/// A handler writes each signal's number into a pipe: from the moment `init` has returned none is lost, whichever thread
/// it hits, and before that each has its default action. A signal source of dispatch would lose those that come while it
/// is being registered.
public struct ProcessSignals: AsyncSequence, Sendable {
  /// A signal number.
  public typealias Element = Int32
  private let stream: AsyncStream<Int32>

  /// Takes over `signals` for the process. Traps where that was done before, since the handler has one pipe, or where the
  /// process has no descriptor left, as the making of an event loop does: both before its work has begun.
  ///
  /// - Parameter signals: signal numbers, for example `SIGTERM`.
  public init(_ signals: [Int32]) {
    let number = tagroute_catch_signals(signals, Int32(signals.count))
    precondition(number >= 0, "cannot catch signals: \(SystemError("make a pipe"))")
    let pipe = FileDescriptor(owning: number)
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(16))
    let loop = EventLoop(label: "signals")
    let watch = try? DescriptorWatch(pipe, on: loop) {
      var byte: UInt8 = 0
      if read(pipe.rawValue, &byte, 1) == 1 { continuation.yield(Int32(byte)) }
    }
    continuation.onTermination = { _ in
      watch?.cancel()
      withExtendedLifetime(loop) {}
    }
    self.stream = stream
  }

  /// One reader at a time: a signal goes to whoever asks first.
  public func makeAsyncIterator() -> AsyncStream<Int32>.Iterator { stream.makeAsyncIterator() }
}
