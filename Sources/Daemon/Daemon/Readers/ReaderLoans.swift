import EventLoop

/// The inhibitors, with the readers that are lent to them, and the calls that wait for a loan.
@DaemonLoop final class ReaderLoans {
  /// Long enough for a slow exchange, and shorter than the usual timeout of the caller (25 seconds).
  private static let timeout = Duration.seconds(20)

  var inhibitors = InhibitorList()
  /// By the reader's number.
  private var waiters: [Int: [CheckedContinuation<Void, Never>]] = [:]

  /// Returns when the process of the reader has closed its device, or never will.
  func wait(for reader: Int) async {
    let timer = DaemonLoop.schedule(after: Self.timeout) { [weak self] in self?.wake(reader) }
    await withCheckedContinuation { waiters[reader, default: []].append($0) }
    timer.cancel()
  }

  /// Resumes the calls that wait.
  func wake(_ reader: Int) {
    for waiter in waiters.removeValue(forKey: reader) ?? [] { waiter.resume() }
  }
}
