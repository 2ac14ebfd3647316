import Journal
import ReaderKit
import ReaderProtocol

/// Calls to pcscd for the card. The main thread waits for their end together with the daemon's commands.
extension CardReader {
  enum CallFailure: Error {
    case pcscd(PCSCError)
    /// The goal has changed, the process ends, or the daemon is gone. Nothing more is sent to the card.
    case aborted
    /// The card did not answer in the time that the client gives it. It is reset.
    case late
  }

  /// How long a call may wait for another program until the daemon gets a report.
  static let waitingAllowance = Duration.milliseconds(300)
  /// How long any other call may take until the daemon gets a report. A card may take 5 s for an answer (ISO/IEC
  /// 14443-4, 7.2: FWI 14).
  static let answerAllowance = Duration.seconds(6)
  /// What pcscd and the driver may take in addition to the time that a client gives its tag.
  static let transferAllowance = Duration.milliseconds(500)
  /// How long an ending process waits for a call that ends by itself.
  static let endingAllowance = Duration.seconds(1)

  /// With a `limit`, a longer call is abandoned, and the card is reset. A call that may have waited for another program
  /// fails with a sharing violation instead.
  ///
  /// No call begins after the goal has changed, or after pcscd has reported that the card or the reader is gone.
  func call(_ call: CardCall, within limit: Duration? = nil) throws(CallFailure) -> [UInt8] {
    guard case .open(_, let thread) = service else { throw .pcscd(.readerUnavailable) }
    let start = SuspendingClock.now
    try awaitIdle(thread, until: call.waitsForOthers ? limit.map { start + $0 } : nil)
    try checkCard()
    thread.begin(call)
    var result = thread.takeResult()
    while result == nil {
      let spent = start.duration(to: .now)
      if let limit, spent >= limit {
        isConnected = false
        thread.abandon(call.waitsForOthers ? .leave : .reset)
        throw call.waitsForOthers ? .pcscd(.sharingViolation) : .late
      }
      do throws(CallFailure) {
        let (allowance, reason) = call.delay
        if spent >= allowance { try onLink { () throws(Interruption) in try wait(for: reason) } }
        try pause(limit.map { $0 - spent })
      } catch {
        isConnected = false
        thread.abandon(.leave)
        throw error
      }
      result = thread.takeResult()
    }
    switch result {
    case .success(let answer)?:
      try onLink { () throws(Interruption) in try wait(for: "") }
      return answer
    case .failure(let error)?:
      if error.endsContext { try onLink { () throws(Interruption) in try loseCards(error, call) } }
      throw .pcscd(error)
    case nil: throw .aborted
    }
  }

  /// Waits for the end of an abandoned call, which still blocks the thread.
  private func awaitIdle(_ thread: CardThread, until end: SuspendingClock.Instant?) throws(CallFailure) {
    let start = SuspendingClock.now
    while thread.isBusy {
      if let end, end <= .now { throw .pcscd(.sharingViolation) }
      if start.duration(to: .now) >= Self.waitingAllowance {
        try onLink { () throws(Interruption) in
          try wait(for: "the reader is busy: another program uses the card, or the driver does not answer")
        }
      }
      try pause(nil)
    }
  }

  /// At most `limit`. Fails if the goal has changed.
  func pause(_ limit: Duration?) throws(CallFailure) {
    let nap = min(limit ?? Self.waitingAllowance, Self.waitingAllowance)
    let isUsable = try onLink { () throws(Interruption) in
      try daemon.beat()
      try daemon.sleep(max(nap, .zero))
      wake.drain()
      return try takeEventsInCall()
    }
    guard daemon.epoch == epoch, !daemon.isShuttingDown else { throw .aborted }
    // A reader that is gone ends its calls, but pcscd's end may be noticed by one thread before the other.
    if !isUsable, case .lost? = backlog.last { throw .pcscd(.communication) }
  }

  private func checkCard() throws(CallFailure) {
    let isInterrupted = try onLink { () throws(Interruption) in try daemon.isInterrupted(epoch) }
    guard !isInterrupted else { throw .aborted }
    guard try onLink({ () throws(Interruption) in try takeEventsInCall() }) else { throw .pcscd(.readerUnavailable) }
    guard !hasLeft else { throw .pcscd(.removedCard) }
  }

  /// pcscd has reported that the card in use was removed.
  private var hasLeft: Bool { slot.isGone || slot.card?.serial != cardInUse }

  /// Waits for pcscd's report that the card in use was removed.
  func isRemoved() throws(CallFailure) -> Bool {
    let end = SuspendingClock.now + Self.removalAllowance
    while true {
      let now = SuspendingClock.now
      if !backlog.isEmpty { return true }
      if slot.hasReturned { return false }
      if hasLeft {
        if slot.mayReturnUntil.map({ $0 < now }) ?? true { return true }
      } else if now >= end {
        return false
      }
      try pause(.milliseconds(50))
    }
  }

  /// A daemon that is gone aborts the work. The next message to it fails again.
  private func onLink<Value>(_ body: () throws(Interruption) -> Value) throws(CallFailure) -> Value {
    do throws(Interruption) { return try body() } catch { throw .aborted }
  }

  // MARK: The connection to the card

  /// Begins a transaction too. `limit` bounds the wait for another program.
  func open(within limit: Duration? = nil) throws(CallFailure) {
    guard let name else { throw .pcscd(.readerUnavailable) }
    _ = try call(.open(name), within: limit)
    isConnected = true
  }

  /// Connects to the reader itself, in any state of its card. `limit` bounds the wait for another program.
  func openReader(within limit: Duration? = nil) throws(CallFailure) {
    guard let name else { throw .pcscd(.readerUnavailable) }
    _ = try call(.openReader(name), within: limit)
    isConnected = true
  }

  /// Does not wait. The card stays as it is.
  func disconnect() {
    guard isConnected, case .open(_, let thread) = service else { return }
    isConnected = false
    thread.abandon(.leave)
  }

  /// Waits until no call runs and no card is connected. A call that waits for another program's transaction has no
  /// connection that keeps others from the card, so there is a limit.
  func awaitRelease() throws(Interruption) {
    guard !isReached, case .open(_, let thread) = service else { return }
    let end = SuspendingClock.now + daemon.timing.closing
    while thread.isBusy, SuspendingClock.now < end, daemon.epoch == epoch, !daemon.isShuttingDown {
      try daemon.pause(.milliseconds(50))
      wake.drain()
    }
  }

  /// Leaves the card before the process ends. pcscd would reset a card with an open transaction.
  func finish() {
    disconnect()
    guard case .open(_, let thread) = service else { return }
    let end = SuspendingClock.now + Self.endingAllowance
    while thread.isBusy, SuspendingClock.now < end {
      wake.wait(milliseconds: 50)
      wake.drain()
    }
  }
}

extension CardCall {
  /// The probable reason, and from when on a call takes longer than usual.
  fileprivate var delay: (allowance: Duration, reason: String) {
    if waitsForOthers { return (CardReader.waitingAllowance, "another program uses the card") }
    return (
      CardReader.answerAllowance, "the reader's driver does not answer; unplug the reader and plug it in again"
    )
  }
}

/// The connection to the card for `CardLink`.
///
/// A class, so that its user sees why a command has failed.
final class CardHandle: CardConnection {
  private unowned let reader: CardReader
  /// Nil if the last command did not fail.
  private(set) var failure: CardFailure?
  /// For the card's answer; nil for as long as pcscd waits.
  var limit: Duration?
  /// A transparent session ends with the connection, or before.
  private(set) var hasOpenedSession = false

  init(_ reader: CardReader) { self.reader = reader }

  func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8] {
    if TransparentSession.isOpen(after: command) == true { hasOpenedSession = true }
    return try run(.transmit(command), within: limit)
  }

  func reset() throws(CardFailure) {
    reader.slot.expectReturn(at: .now)
    _ = try run(.reset, within: nil)
  }

  /// To the driver.
  func control(_ code: UInt32, _ command: [UInt8] = []) throws(CardFailure) -> [UInt8] {
    try run(.control(code, command), within: nil)
  }

  /// SCARD_ATTR_ATR_STRING. Not `SCardStatus`: see `PCSCContext`.
  func answerToReset() throws(CardFailure) -> [UInt8] { try run(.attribute(0x9_0303), within: nil) }

  private func run(_ call: CardCall, within limit: Duration?) throws(CardFailure) -> [UInt8] {
    do throws(CardReader.CallFailure) {
      failure = nil
      return try reader.call(call, within: limit)
    } catch {
      let failure = CardFailure(error)
      self.failure = failure
      throw failure
    }
  }
}

extension CardFailure {
  init(_ failure: CardReader.CallFailure) {
    switch failure {
    case .pcscd(let error): self.init(error)
    case .aborted: self = .aborted
    case .late: self = .exchange("the tag did not answer in time")
    }
  }
}
