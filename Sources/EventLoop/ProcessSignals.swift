import Dispatch
import Glibc

/// Signals as an asynchronous sequence.
///
/// The signals are blocked from their default action before the sequence exists, so one that arrives early is not lost
/// and does not end the process.
public struct ProcessSignals: AsyncSequence, Sendable {
  /// A signal number.
  public typealias Element = Int32
  private let stream: AsyncStream<Int32>

  /// Takes over `signals` for the process.
  ///
  /// - Parameter signals: signal numbers, for example `SIGTERM`.
  public init(_ signals: [Int32]) {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(16))
    let queue = DispatchQueue(label: "signals")
    let sources = signals.map { number in
      // Ignoring comes first: the source sees the signal all the same, and the default action is gone from here on.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { @Sendable in continuation.yield(number) }
      source.activate()
      return source
    }
    let owned = SignalSources(sources)
    continuation.onTermination = { _ in owned.cancel() }
    self.stream = stream
  }

  /// One reader at a time: a signal goes to whoever asks first.
  public func makeAsyncIterator() -> AsyncStream<Int32>.Iterator { stream.makeAsyncIterator() }
}

/// Keeps the sources alive as long as the sequence is read.
///
/// `@unchecked` because `DispatchSourceSignal` is not marked Sendable; dispatch objects may be cancelled from any thread,
/// and that is all that is done with these.
private final class SignalSources: @unchecked Sendable {
  private let sources: [any DispatchSourceSignal]

  init(_ sources: [any DispatchSourceSignal]) { self.sources = sources }

  func cancel() { for source in sources { source.cancel() } }
}
