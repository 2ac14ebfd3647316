import CShims
import Glibc

/// Signals as an asynchronous sequence.
///
/// A handler writes each signal's number into a pipe. After `init` returns, no signal is lost, whichever thread it
/// hits. Before that, each signal has its default action. A dispatch source would lose signals that arrive while it is
/// being registered.
///
/// At most one signal of each number waits. Handling it covers all earlier signals of that number, and a flood of one
/// number does not displace another number.
public struct ProcessSignals: AsyncSequence, Sendable {
  /// A signal number.
  public typealias Element = Int32
  private let stream: AsyncStream<Int32>
  /// The numbers that wait to be read.
  private let waiting: Locked<Set<Int32>>

  /// Only one reader at a time: each signal goes to the first reader that asks.
  public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), waiting: waiting) }

  /// Reads the numbers one by one.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<Int32>.Iterator
    fileprivate let waiting: Locked<Set<Int32>>

    /// The next number; nil if the task is cancelled.
    public mutating func next() async -> Int32? { await next(isolation: nil) }

    /// The next number; nil if the task is cancelled.
    ///
    /// - Parameter actor: the caller's actor. The call does not leave it if a number is already waiting.
    /// - Returns: a signal number.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Int32? {
      guard let number = await base.next(isolation: actor) else { return nil }
      // A signal with the same number before this point is not reported again: the reader's reaction to this one comes
      // later and covers both.
      waiting.withLock { _ = $0.remove(number) }
      return number
    }
  }

  /// The end that adds numbers. It does not keep the stream alive.
  struct Entrance: Sendable {
    fileprivate let continuation: AsyncStream<Int32>.Continuation
    fileprivate let waiting: Locked<Set<Int32>>

    /// Adds a number, unless it is waiting already.
    func add(_ number: Int32) {
      guard waiting.withLock({ $0.insert(number).inserted }) else { return }
      continuation.yield(number)
    }
  }

  /// A sequence that catches no signals: its numbers come from the entrance, in the order of their arrival.
  static func make() -> (signals: ProcessSignals, entrance: Entrance) {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    let waiting = Locked<Set<Int32>>([])
    return (
      ProcessSignals(stream: stream, waiting: waiting), Entrance(continuation: continuation, waiting: waiting)
    )
  }
}

extension ProcessSignals {
  /// Takes over `signals` for the process. Traps if this was done before, because the handler has one pipe. Also traps
  /// if the process has no descriptor left, as the creation of an event loop does. Both happen before the process
  /// starts its work.
  ///
  /// - Parameter signals: signal numbers, for example `SIGTERM`.
  public init(_ signals: [Int32]) {
    let number = tagroute_catch_signals(signals, Int32(signals.count))
    precondition(number >= 0, "cannot catch signals: \(SystemError("make a pipe"))")
    let pipe = FileDescriptor(owning: number)
    let (sequence, entrance) = Self.make()
    let loop = EventLoop(label: "signals")
    let watch = try? DescriptorWatch(pipe, on: loop) {
      var byte: UInt8 = 0
      if read(pipe.rawValue, &byte, 1) == 1 { entrance.add(Int32(byte)) }
    }
    entrance.continuation.onTermination = { _ in
      watch?.cancel()
      withExtendedLifetime(loop) {}
    }
    self = sequence
  }
}
