/// A received signal.
public struct ReceivedSignal: Sendable, Hashable {
  /// The unique name of the sender, or `org.freedesktop.DBus`. The bus sets it, so the sender cannot forge it.
  public let sender: String
  /// The object that emitted it.
  public let path: ObjectPath
  /// The interface.
  public let interface: String
  /// The signal's name.
  public let member: String
  /// The arguments. The sender chooses their types.
  public let arguments: [Value]
  /// How many signals of this stream were lost, at least, between the previous one and this one. A slow reader loses
  /// signals, and each time the connection is down it adds one to this number. If it is not 0, state that is derived
  /// from signals must be read again.
  public internal(set) var missed: Int
}

/// The signals that match a rule, in the order of their arrival, for one reader.
///
/// At most `SignalStream.limit` of them wait for the reader. If more arrive, the oldest are dropped, and the next one
/// that is read reports that in `missed`. A signal with more than 1 MiB of text and bytes, or more than 16,384 values,
/// is dropped too.
///
/// The stream continues after a reconnection and ends when the connection is closed. Releasing it, or cancelling the
/// task that reads it, removes the match.
public struct SignalStream: AsyncSequence, Sendable {
  /// A signal.
  public typealias Element = ReceivedSignal
  /// How many signals may wait for a slow reader.
  public static let limit = 256

  let stream: AsyncStream<(number: UInt64, signal: ReceivedSignal)>

  /// Continues after the last signal that was read.
  public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

  /// Reads the signals one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<(number: UInt64, signal: ReceivedSignal)>.Iterator
    private var expected: UInt64 = 0

    init(base: AsyncStream<(number: UInt64, signal: ReceivedSignal)>.Iterator) { self.base = base }

    /// The next signal; nil if the connection is closed or the task is cancelled.
    public mutating func next() async -> ReceivedSignal? {
      await next(isolation: nil)
    }

    /// The next signal; nil if the connection is closed or the task is cancelled.
    ///
    /// - Parameter actor: the caller's actor. The call does not leave it if a signal is already waiting.
    /// - Returns: a signal.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ReceivedSignal? {
      guard let (number, signal) = await base.next(isolation: actor) else { return nil }
      var result = signal
      result.missed = Int(clamping: number - expected)
      expected = number + 1
      return result
    }
  }
}

/// The connection's end of a signal stream.
struct SignalSubscription {
  let rule: MatchRule
  let ruleText: String
  let continuation: AsyncStream<(number: UInt64, signal: ReceivedSignal)>.Continuation
  /// The number of the next signal. A gap in the numbers that the reader sees is a loss of signals.
  var nextNumber: UInt64 = 0

  mutating func yield(_ signal: ReceivedSignal) {
    continuation.yield((nextNumber, signal))
    nextNumber += 1
  }

  mutating func countMissed() {
    nextNumber += 1
  }
}
