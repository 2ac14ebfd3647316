import CShims
import Glibc

/// Signals as an asynchronous sequence.
///
/// A handler writes each signal's number into a pipe: from the moment `init` has returned none is lost, whichever thread
/// it hits, and before that each has its default action. A signal source of dispatch would lose those that come while it
/// is being registered. Of each number one waits at the most: whoever acts on it acts on all that came before, and however many
/// there are of one, none takes another's place.
public struct ProcessSignals: AsyncSequence, Sendable {
  /// A signal number.
  public typealias Element = Int32
  private let stream: SignalNumbers

  /// Takes over `signals` for the process. Traps where that was done before, since the handler has one pipe, or where the
  /// process has no descriptor left, as the making of an event loop does: both before its work has begun.
  ///
  /// - Parameter signals: signal numbers, for example `SIGTERM`.
  public init(_ signals: [Int32]) {
    let number = tagroute_catch_signals(signals, Int32(signals.count))
    precondition(number >= 0, "cannot catch signals: \(SystemError("make a pipe"))")
    let pipe = FileDescriptor(owning: number)
    let (stream, entrance) = SignalNumbers.make()
    let loop = EventLoop(label: "signals")
    let watch = try? DescriptorWatch(pipe, on: loop) {
      var byte: UInt8 = 0
      if read(pipe.rawValue, &byte, 1) == 1 { entrance.add(Int32(byte)) }
    }
    entrance.continuation.onTermination = { _ in
      watch?.cancel()
      withExtendedLifetime(loop) {}
    }
    self.stream = stream
  }

  /// One reader at a time: a signal goes to whoever asks first.
  public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

  /// Reads the numbers one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var base: SignalNumbers.Iterator

    /// The next number; nil once the task is cancelled.
    public mutating func next() async -> Int32? { await next(isolation: nil) }

    /// The next number; nil once the task is cancelled.
    ///
    /// - Parameter actor: the caller's, which is not left while a number is there already.
    /// - Returns: a signal number.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Int32? {
      await base.next(isolation: actor)
    }
  }
}

/// Numbers in the order in which they came, each of them once until somebody has taken it.
struct SignalNumbers: AsyncSequence, Sendable {
  private let stream: AsyncStream<Int32>
  private let waiting: Locked<Set<Int32>>

  /// What puts them in; that it is there keeps no stream alive.
  struct Entrance: Sendable {
    let continuation: AsyncStream<Int32>.Continuation
    fileprivate let waiting: Locked<Set<Int32>>

    func add(_ number: Int32) {
      guard waiting.withLock({ $0.insert(number).inserted }) else { return }
      continuation.yield(number)
    }
  }

  static func make() -> (numbers: SignalNumbers, entrance: Entrance) {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    let waiting = Locked<Set<Int32>>([])
    return (
      SignalNumbers(stream: stream, waiting: waiting), Entrance(continuation: continuation, waiting: waiting)
    )
  }

  func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), waiting: waiting) }

  struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<Int32>.Iterator
    let waiting: Locked<Set<Int32>>

    mutating func next() async -> Int32? { await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Int32? {
      guard let number = await base.next(isolation: actor) else { return nil }
      // One that comes before this is not told again: what is done about this one is done after it.
      waiting.withLock { _ = $0.remove(number) }
      return number
    }
  }
}
