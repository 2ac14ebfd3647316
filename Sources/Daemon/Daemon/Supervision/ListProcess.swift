import EventLoop
import Glibc
import ReaderProtocol

/// A child process that lists readers. Its messages are bounded, and otherwise unchecked.
///
/// The loop owns this actor, which stays alive while the process exists.
actor ListProcess {
  enum Event: Sendable {
    case list(ReaderList)
    /// The process could not be started. No other event follows.
    case failed(SystemError)
    /// The process has ended, in words that follow its name. No other event follows.
    case ended(String)
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private nonisolated let loop: EventLoop
  /// How long a process may live after it or the daemon has closed the link.
  private let endAllowance: Duration
  private let handler: @Sendable (Event) -> Void
  private var link: ReaderLinkEnd?
  private var child: pid_t?
  /// Nil if it was not killed.
  private var cause: String?

  init(on loop: EventLoop, endAllowance: Duration = .seconds(1), handler: @escaping @Sendable (Event) -> Void) {
    self.loop = loop
    self.endAllowance = endAllowance
    self.handler = handler
  }

  /// Call this once.
  func start(_ program: String, environment: [String]) throws(SystemError) {
    let (ours, theirs) = try ReaderLinkEnd.pair(on: loop) { [self] arrival in assumeIsolated { $0.arrived(arrival) } }
    link = ours
    do throws(SystemError) {
      try ReaderChild.start(
        [program, "--list", "--link", String(ReaderChild.linkDescriptor)], environment: environment, link: theirs,
        trace: nil, on: loop
      ) { [self] event in assumeIsolated { $0.childReported(event) } }
    } catch {
      closeLink()
      throw error
    }
  }

  /// Closes the link, at which the process ends. Kills it if it does not.
  func stop() {
    closeLink()
    killLater("did not end")
  }

  /// Ignores the process's further messages. `ended` follows with this cause.
  func kill(_ cause: String) {
    guard self.cause == nil else { return }
    self.cause = cause
    closeLink()
    if let child { Glibc.kill(child, SIGKILL) }
  }

  private func killLater(_ cause: String) {
    loop.schedule(after: endAllowance) { self.assumeIsolated { $0.kill(cause) } }
  }

  private func closeLink() {
    link?.close()
    link = nil
  }

  private func childReported(_ event: ReaderChild.Event) {
    switch event {
    case .started(let child):
      self.child = child
      if cause != nil { Glibc.kill(child, SIGKILL) }
    case .failed(let error):
      closeLink()
      handler(.failed(error))
    case .ended(let child):
      self.child = nil
      let how = ReaderChild.reap(child)
      link?.drain()
      closeLink()
      handler(.ended(cause ?? how))
    }
  }

  private func arrived(_ arrival: ReaderLinkEnd.Arrival) {
    do throws(ReaderLinkError) {
      for payload in arrival.payloads where cause == nil { handler(.list(try ReaderList(payload: payload))) }
    } catch {
      return kill("sent \(error)")
    }
    switch arrival.end {
    case .hungUp: killLater("closed its link")
    case .garbage(let error): kill("sent \(error)")
    case nil: break
    }
  }
}
