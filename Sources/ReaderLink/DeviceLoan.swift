/// Whether a reader's device is lent to another program: what is wanted, and what its process has said.
struct DeviceLoan {
  typealias Instant = SuspendingClock.Instant

  /// Whether the device is to be closed.
  private(set) var isWanted = false
  /// By when the process has to have answered.
  private(set) var deadline: Instant?
  private var isReported = false
  /// Whether the present process was told to close the device.
  private var wasTold = false
  /// Whether the next process takes what it finds at first for announced. So it stays until one looks: one that wedges as it opens the
  /// device leaves it to the one after it.
  private var isToBeQuiet = false

  /// Whether it is as it is wanted.
  var isSettled: Bool { isWanted == isReported }

  /// What the process has not done, where the deadline has passed.
  var omission: String {
    isWanted ? "it was told to close its device and did not" : "it was told to open its device again and did not"
  }

  /// What lies on the reader is not announced by the next process until it has been away.
  mutating func quieten() { isToBeQuiet = true }

  /// The process looks for tags to announce, and has been told what it takes for announced.
  mutating func looks() { isToBeQuiet = false }

  /// - Parameters:
  ///   - on: whether the device is to be closed.
  ///   - deadline: when the process has to have answered; nil where there is none to ask.
  mutating func want(_ on: Bool, by deadline: Instant?) {
    isWanted = on
    self.deadline = deadline
    // Whatever was said before, the device may be open by now.
    if on { (wasTold, isReported) = (true, false) }
  }

  /// A new process begins.
  ///
  /// - Returns: what it is told; nil where that is nothing.
  mutating func begin(at now: Instant, within time: Duration) -> Bool? {
    wasTold = isWanted
    deadline = isWanted ? now + time : nil
    return isWanted ? true : isToBeQuiet ? false : nil
  }

  /// The process has said whether the device is closed.
  ///
  /// - Returns: what is to be reported; nil where it cannot be so.
  mutating func handle(_ on: Bool) -> [ReaderSupervision.Action]? {
    guard !on || wasTold else { return nil }
    if on == isWanted { deadline = nil }
    return report(on)
  }

  /// There is no process, and so the device is closed, or nobody's to be closed.
  mutating func processEnded() -> [ReaderSupervision.Action] {
    deadline = nil
    if isReported || isWanted { isToBeQuiet = true }
    return report(isWanted)
  }

  /// What lay on the reader went with it. What lies on the one that was plugged in is new, unless that is for the other program.
  mutating func deviceWasAway() { isToBeQuiet = isWanted }

  /// Stopped for good.
  mutating func stop() { deadline = nil }

  private mutating func report(_ on: Bool) -> [ReaderSupervision.Action] {
    guard on != isReported else { return [] }
    isReported = on
    return [.report(.lent(on))]
  }
}
