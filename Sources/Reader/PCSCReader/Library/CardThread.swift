import EventLoop
import Glibc
import ReaderKit

/// A thread that makes one call to pcscd at a time, because pcscd may block for any time: another program has a
/// transaction, a card does not answer, or a driver hangs.
///
/// The main thread begins a call, and waits for its end together with the commands of the daemon. It can also abandon
/// the call. Nothing interrupts it then, but the thread drops its result and ends the connection to the card.
final class CardThread: Sendable {
  private struct State {
    var next: CardCall?
    /// Whether a client of a reader session has ordered that call.
    var isOfSession = false
    /// A call is to be made, or is being made.
    var isBusy = false
    /// How to end the connection after the present call; nil if its result is wanted.
    var abandonment: CardDisposition?
    /// Of the last call, until it is taken.
    var result: Result<[UInt8], PCSCError>?
  }

  private let state = Locked(State())
  private let work: Signal
  private let wake: Signal
  /// Nil if the daemon does not want a trace.
  private let trace: TraceWriter?

  /// Takes over the context. The thread sends `wake` after each call. Fails if the system has no thread left.
  init(_ context: PCSCContext, work: Signal, wake: Signal, trace: TraceWriter?) throws(SystemError) {
    self.work = work
    self.wake = wake
    self.trace = trace
    try DedicatedThread.start { [self] in run(CardWorker(context, trace)) }
  }

  /// True also for an abandoned call.
  var isBusy: Bool { state.withLock { $0.isBusy } }

  /// The thread must not be busy.
  func begin(_ call: CardCall) {
    state.withLock { state in
      state.next = call
      // When the call ends, the session may be over.
      state.isOfSession = trace?.isInSession ?? false
      state.isBusy = true
      state.result = nil
    }
    work.send()
  }

  /// Nil while the call runs.
  func takeResult() -> Result<[UInt8], PCSCError>? {
    state.withLock { state in
      defer { state.result = nil }
      return state.result
    }
  }

  /// Does not wait. The result of a call that still runs is dropped.
  func abandon(_ disposition: CardDisposition) {
    state.withLock { state in
      if !state.isBusy { state.next = .close(disposition) }
      state.isBusy = true
      state.abandonment = disposition
      state.result = nil
    }
    work.send()
  }

  private func run(_ worker: CardWorker) {
    var worker = worker
    while true {
      guard let (call, isOfSession) = state.withLock({ Self.takeCall(&$0) }) else {
        work.wait()
        work.drain()
        continue
      }
      let result = Result { () throws(PCSCError) in
        try worker.perform(call, isOfSession: isOfSession) { state.withLock { $0.abandonment != nil } }
      }
      let abandonment = state.withLock { state -> CardDisposition? in
        if state.abandonment == nil { Self.end(&state, result) }
        return state.abandonment
      }
      if let abandonment {
        worker.close(abandonment)
        state.withLock { Self.end(&$0, nil) }
      }
      wake.send()
    }
  }

  /// A call that was abandoned before it began is not made.
  private static func takeCall(_ state: inout State) -> (CardCall, isOfSession: Bool)? {
    guard let next = state.next else { return nil }
    state.next = nil
    return (state.abandonment.map { .close($0) } ?? next, state.isOfSession)
  }

  private static func end(_ state: inout State, _ result: Result<[UInt8], PCSCError>?) {
    (state.isBusy, state.abandonment, state.result) = (false, nil, result)
  }
}

/// A call to pcscd that concerns a card and may block. `CardThread` makes it.
enum CardCall: Sendable {
  /// Connect to the card in the reader, shared with other programs, and begin a transaction.
  case open(ReaderName)
  /// Connect to the reader itself, for control codes and attributes alone. The card gets no power and no transaction.
  case openReader(ReaderName)
  /// The result is the card's answer.
  case transmit([UInt8])
  /// To the driver. The result is its answer.
  case control(UInt32, [UInt8])
  /// Ask for an attribute of the reader or of the connection to the card.
  case attribute(UInt32)
  /// Take the card's power for a moment. It is then in its initial state. The transaction goes on.
  case reset
  /// End the transaction and the connection.
  case close(CardDisposition)

  /// pcscd makes the call wait while another program has a transaction with the card.
  var waitsForOthers: Bool {
    switch self {
    case .open, .openReader: true
    case .transmit, .control, .attribute, .reset, .close: false
    }
  }
}

/// What happens to the card when the connection ends.
enum CardDisposition: Sendable {
  /// The card stays as it is.
  case leave
  /// The card loses its power for a moment, because it may still work on a command.
  case reset
}

/// Wakes one thread from another through a pipe. It carries no data: those are behind locks.
final class Signal: Sendable {
  /// Readable after `send()`, until `drain()`.
  let descriptor: Int32
  private let sender: Int32

  /// Nil if the process has no descriptor left.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (descriptor, sender) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(sender)
  }

  /// If the pipe is full, the other thread has enough signals already.
  func send() {
    var byte: UInt8 = 0
    _ = write(sender, &byte, 1)
  }

  /// Discards the signals so far. Call this before reading the data that they announce.
  func drain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) == bytes.count {}
  }

  /// -1 waits forever.
  func wait(milliseconds: Int32 = -1) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&entry, 1, milliseconds)
  }
}
