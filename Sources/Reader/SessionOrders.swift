import ReaderLink

/// What the daemon wants of sessions, and whether the device is to be closed for another program: what was said and not done yet.
struct SessionOrders {
  /// Something to be done with a tag.
  struct Request {
    let number: UInt64
    let placement: UInt64
    let operation: ReaderOperation
  }

  /// The session that there is to be.
  private(set) var session: ReaderSessionOptions?
  /// Sessions whose end the daemon waits to hear of.
  private(set) var endings: [UInt64] = []
  private(set) var requests: ArraySlice<Request> = []
  private(set) var isToRestart = false
  private(set) var wantsLoan = false
  /// Whether the daemon waits to hear that it is so.
  private(set) var isLoanUnanswered = false

  /// Whether anything is wanted besides looking for tags to announce.
  var areThere: Bool { session != nil || !endings.isEmpty || wantsLoan || isLoanUnanswered }

  mutating func take(_ command: ReaderCommand) {
    switch command {
    case .beginSession(let options):
      drop()
      session = options
    case .endSession(let number):
      if session?.number == number { drop() }
      endings.append(number)
    case .restartPolling(let number): isToRestart = isToRestart || session?.number == number
    case .perform(let number, let request, let placement, let operation):
      // The daemon answers what belongs to a session that is over.
      guard session?.number == number else { return }
      requests.append(Request(number: request, placement: placement, operation: operation))
    case .lend(let on):
      wantsLoan = on
      isLoanUnanswered = true
    case .scan, .avoid, .lookForDevice, .configure, .shutDown: break
    }
  }

  /// The device fails, or there is none: the daemon knows that no session goes on.
  mutating func drop() {
    session = nil
    requests = []
    isToRestart = false
  }

  mutating func takeEndings() -> [UInt64] {
    defer { endings = [] }
    return endings
  }

  mutating func takeRequest() -> Request? { requests.popFirst() }

  mutating func takeRestart() -> Bool {
    defer { isToRestart = false }
    return isToRestart
  }

  mutating func loanIsAnswered() { isLoanUnanswered = false }
}
