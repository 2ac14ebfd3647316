package import EventLoop
import ReaderProtocol

/// Reports which readers pcscd has, and each change of them. A process without any card asks pcscd, because the daemon
/// does not load libpcsclite.
///
/// The process keeps pcscd running, and pcscd holds every smart card reader of the machine. So the daemon runs it only
/// while there is a reader for it. A process that ends is started again: at once the first time, then after longer and
/// longer pauses. The daemon's loop owns this actor.
package actor PCSCWatch {
  /// What pcscd says.
  package enum Event: Sendable, Hashable {
    /// Its readers, in its order: at most `Names.PCSC.mostReaders`, each name once.
    case readers([PCSCReader])
    /// It gives no list at present, for this reason.
    case problem(PCSCProblem)
  }

  /// The most lists and problems of a process in `window`. The daemon compares each with its readers. Plugging a hub in
  /// and out causes far fewer.
  static let mostEvents = 300
  static let window = Duration.seconds(60)
  /// How long a process may live after it closed its output, or after the daemon closed its input.
  static let endAllowance = Duration.seconds(1)
  /// The most unread events. Each replaces the one before it, so the oldest are dropped.
  private static let mostUnread = 16

  /// The events, in order, for one consumer. The stream ends with `stop()`.
  package nonisolated let events: AsyncStream<Event>
  /// The loop that owns this actor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private nonisolated let loop: EventLoop
  private let arguments: [String]
  private let environment: [String]
  private let continuation: AsyncStream<Event>.Continuation
  private var process: LineProcess?
  private var listing = PCSCListing()
  private var restarts = RestartSchedule()
  private var count = WindowCount(within: window)
  /// Ends the pause before the next process.
  private var pause: LoopTimer?
  private var isStopped = false
  private var stopWaiters: [CheckedContinuation<Void, Never>] = []

  /// A watch without a process; `start()` starts it. `program` is the absolute path of `tagroute-reader-pcsc`, and
  /// `environment` all of its environment, as `NAME=value`.
  package init(program: String, environment: [String], on loop: EventLoop) {
    arguments = [program, "--watch"]
    self.environment = environment
    self.loop = loop
    (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.mostUnread))
  }

  /// Starts the process. From here on, restarts it whenever it ends.
  package func start() {
    guard !isStopped, process == nil, pause == nil else { return }
    spawn()
  }

  /// Ends a pause before a restart, because a reader was plugged in, or pcscd may have changed.
  package func retryAtOnce() {
    guard let pause, restarts.retryAtOnce() else { return }
    pause.cancel()
    spawn()
  }

  /// Ends the process for good, and waits for its end. It ends by itself once its standard input is closed, else it is
  /// killed.
  package func stop() async {
    isStopped = true
    continuation.finish()
    pause?.cancel()
    pause = nil
    guard let process else { return }
    await process.closeInput()
    killLater(process, "did not end")
    await withCheckedContinuation { stopWaiters.append($0) }
  }

  private func spawn() {
    pause = nil
    (listing, count) = (PCSCListing(), WindowCount(within: Self.window))
    restarts.started(at: .now)
    let limits = LineProcess.Limits(line: PCSCListing.mostBytesOfLine)
    let process = LineProcess(limits, on: loop) { [weak self] event in self?.assumeIsolated { $0.receive(event) } }
    self.process = process
    let (arguments, environment) = (arguments, environment)
    let started = process.assumeIsolated { process in
      Result { () throws(SystemError) in try process.start(arguments, environment: environment, holdsInput: true) }
    }
    if case .failure(let error) = started { ended("\(error)") }
  }

  private func receive(_ event: LineProcess.Event) {
    switch event {
    case .line(let line): take(line)
    case .closedOutput: if let process { killLater(process, "closed its output") }
    case .failed(let error): ended("\(error)")
    // Such a process has said before why it ends: it must not connect to pcscd a second time, and its successor may.
    case .ended(ReaderChild.success): ended(nil)
    case .ended(let how): ended("\(arguments.joined(separator: " ")) \(how)")
    }
  }

  private func take(_ line: [UInt8]) {
    guard !isStopped else { return }
    do throws(ReaderLinkError) {
      guard let event = try listing.take(line) else { return }
      guard count.next(at: .now) <= Self.mostEvents else { throw ReaderLinkError("lists without end") }
      continuation.yield(event)
      // Another process would meet the same problem, and pcscd logs each attempt that polkit refuses.
      if case .problem(let problem) = event, [.refused, .closed, .otherVersion].contains(problem.kind) {
        restarts.isHopeless()
      }
    } catch {
      process?.assumeIsolated { $0.kill("sent \(error)") }
    }
  }

  private func ended(_ failure: String?) {
    process = nil
    guard !isStopped else {
      for waiter in stopWaiters { waiter.resume() }
      stopWaiters = []
      return
    }
    if let failure { continuation.yield(.problem(PCSCProblem(.other, failure))) }
    pause = loop.schedule(after: restarts.ended(at: .now)) { [weak self] in
      self?.assumeIsolated {
        $0.restarts.paused()
        $0.spawn()
      }
    }
  }

  private func killLater(_ process: LineProcess, _ cause: String) {
    loop.schedule(after: Self.endAllowance) { process.assumeIsolated { $0.kill(cause) } }
  }
}
