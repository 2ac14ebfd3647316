/// A signal as it arrived.
public struct ReceivedSignal: Sendable, Hashable {
  /// The unique name of the sender, or `org.freedesktop.DBus`. The bus vouches for it.
  public let sender: String
  /// The object that emitted it.
  public let path: ObjectPath
  /// The interface.
  public let interface: String
  /// The signal's name.
  public let member: String
  /// The arguments. Their types are what the sender chose.
  public let arguments: [Value]
  /// How many signals of this stream, at least, were lost between the one before and this one: because the reader was
  /// slow, or the connection was away (counted as one). Where it is not 0, state that is kept from signals must be read
  /// again.
  public internal(set) var missed: Int
}

/// The signals that match a rule, in the order of their arrival, for one reader.
///
/// At most `SignalStream.limit` of them wait for the reader; where more come, the oldest are dropped, and the next that
/// is read says so in `missed`. A signal with more than 1 MiB of text and bytes counts as dropped. The stream goes on
/// after a reconnection and ends when the connection is closed; letting go of it, or cancelling the task that reads it,
/// removes the match.
public struct SignalStream: AsyncSequence, Sendable {
  /// A signal.
  public typealias Element = ReceivedSignal
  /// How many signals wait for a slow reader.
  public static let limit = 256

  let stream: AsyncStream<(number: UInt64, signal: ReceivedSignal)>

  /// Reads on where the last reader stopped.
  public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

  /// Reads the signals one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<(number: UInt64, signal: ReceivedSignal)>.Iterator
    private var expected: UInt64 = 0

    init(base: AsyncStream<(number: UInt64, signal: ReceivedSignal)>.Iterator) { self.base = base }

    /// The next signal; nil once the connection is closed or the task cancelled.
    public mutating func next() async -> ReceivedSignal? {
      await next(isolation: nil)
    }

    /// The next signal; nil once the connection is closed or the task cancelled.
    ///
    /// - Parameter actor: the caller's, which is not left while a signal is there already.
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

/// The connection's end of a stream.
struct SignalSubscription {
  let rule: MatchRule
  let ruleText: String
  let continuation: AsyncStream<(number: UInt64, signal: ReceivedSignal)>.Continuation
  /// The number of the next signal. Numbers that the reader does not see are signals that it missed.
  var nextNumber: UInt64 = 0

  mutating func yield(_ signal: ReceivedSignal) {
    continuation.yield((nextNumber, signal))
    nextNumber += 1
  }

  mutating func countMissed() {
    nextNumber += 1
  }
}
