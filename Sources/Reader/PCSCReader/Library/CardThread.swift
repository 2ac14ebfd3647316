import EventLoop

/// A thread that makes one call to pcscd at a time, because pcscd may block for any time: another program has a
/// transaction, a card does not answer, or a driver hangs.
///
/// The main thread begins a call, and waits for its end together with the commands of the daemon. It can also abandon
/// the call. Nothing interrupts it then, but the thread drops its result and ends the connection to the card.
final class CardThread: Sendable {
  private struct State {
    /// The call to make.
    var next: CardCall?
    /// Whether a call is to be made, or is being made.
    var isBusy = false
    /// How to end the connection after the present call, whose result is not wanted; nil if it is.
    var abandonment: CardDisposition?
    /// The result of the last call, until it is taken.
    var result: Result<[UInt8], PCSCError>?
  }

  private let state = Locked(State())
  private let work: Signal
  private let wake: Signal

  /// Starts the thread, which takes over the context. It sends `wake` after each call. Fails if the system has no
  /// thread left.
  init(_ context: PCSCContext, work: Signal, wake: Signal) throws(SystemError) {
    self.work = work
    self.wake = wake
    try DedicatedThread.start { [self] in run(context) }
  }

  /// Whether a call is running, abandoned or not.
  var isBusy: Bool { state.withLock { $0.isBusy } }

  /// Begins a call. The thread must not be busy.
  func begin(_ call: CardCall) {
    state.withLock { state in
      state.next = call
      state.isBusy = true
      state.result = nil
    }
    work.send()
  }

  /// The result of the call that was begun; nil while it runs.
  func takeResult() -> Result<[UInt8], PCSCError>? {
    state.withLock { state in
      defer { state.result = nil }
      return state.result
    }
  }

  /// Ends the connection without waiting for it. The result of a call that still runs is dropped.
  func abandon(_ disposition: CardDisposition) {
    state.withLock { state in
      if !state.isBusy { state.next = .close(disposition) }
      state.isBusy = true
      state.abandonment = disposition
      state.result = nil
    }
    work.send()
  }

  private func run(_ context: PCSCContext) {
    var worker = CardWorker(context)
    while true {
      guard let call = state.withLock({ Self.takeCall(&$0) }) else {
        work.wait()
        work.drain()
        continue
      }
      let result = Result { () throws(PCSCError) in
        try worker.perform(call) { state.withLock { $0.abandonment != nil } }
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
  private static func takeCall(_ state: inout State) -> CardCall? {
    defer { state.next = nil }
    guard state.next != nil, let abandonment = state.abandonment else { return state.next }
    return .close(abandonment)
  }

  private static func end(_ state: inout State, _ result: Result<[UInt8], PCSCError>?) {
    (state.isBusy, state.abandonment, state.result) = (false, nil, result)
  }
}
