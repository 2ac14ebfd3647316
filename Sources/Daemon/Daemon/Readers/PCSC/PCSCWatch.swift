package import EventLoop
package import ReaderProtocol

/// Reports which readers pcscd has, and each change of them. A process without any card asks pcscd, because the daemon
/// does not load libpcsclite.
///
/// The process keeps pcscd running, and pcscd holds every smart card reader of the machine. So the daemon runs it only
/// while there is a reader for it. A process that ends is started again: at once the first time, then after longer and
/// longer pauses. The daemon's loop owns this actor.
package actor PCSCWatch {
  package enum Event: Sendable, Hashable {
    /// In pcscd's order: at most `Names.PCSC.mostReaders`, each name once.
    case readers([PCSCReader])
    /// pcscd gives no list at present.
    case problem(PCSCProblem)
  }

  /// The most lists and problems of a process in `window`. The daemon compares each with its readers. Plugging a hub in
  /// and out causes far fewer.
  static let mostEvents = 300
  static let window = Duration.seconds(60)
  /// The most unread events. Each replaces the one before it, so the oldest are dropped.
  private static let mostUnread = 16

  /// For one consumer. The stream ends with `stop()`.
  package nonisolated let events: AsyncStream<Event>
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private nonisolated let loop: EventLoop
  private let program: String
  private let environment: [String]
  private let continuation: AsyncStream<Event>.Continuation
  private var process: ListProcess?
  private var restarts = RestartSchedule()
  private var count = WindowCount(within: window)
  /// The pause before the next process.
  private var pause: LoopTimer?
  private var isStopped = false
  private var stopWaiters: [CheckedContinuation<Void, Never>] = []

  /// `program` is the absolute path of `tagroute-reader-pcsc`, and `environment` all of its environment, as
  /// `NAME=value`. Starts no process yet.
  package init(program: String, environment: [String], on loop: EventLoop) {
    self.program = program
    self.environment = environment
    self.loop = loop
    (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.mostUnread))
  }

  /// From here on, restarts the process whenever it ends.
  package func start() {
    guard !isStopped, process == nil, pause == nil else { return }
    spawn()
  }

  /// Ends the pause before a restart, because a reader was plugged in, or pcscd may have changed.
  package func retryAtOnce() {
    guard let pause, restarts.retryAtOnce() else { return }
    pause.cancel()
    spawn()
  }

  /// Waits for the end of the process.
  package func stop() async {
    isStopped = true
    continuation.finish()
    pause?.cancel()
    pause = nil
    guard let process else { return }
    await process.stop()
    await withCheckedContinuation { stopWaiters.append($0) }
  }

  private func spawn() {
    pause = nil
    count = WindowCount(within: Self.window)
    restarts.started(at: .now)
    let process = ListProcess(on: loop) { [weak self] event in self?.assumeIsolated { $0.receive(event) } }
    self.process = process
    let (program, environment) = (program, environment)
    let started = process.assumeIsolated { process in
      Result { () throws(SystemError) in try process.start(program, environment: environment) }
    }
    if case .failure(let error) = started { ended("\(error)") }
  }

  private func receive(_ event: ListProcess.Event) {
    switch event {
    case .list(.readers(let readers)): take(.readers(readers))
    case .list(.problem(let problem)): take(.problem(problem))
    case .list(.devices): kill("sent a list of libnfc's devices")
    case .failed(let error): ended("\(error)")
    // Such a process has said before why it ends: it must not connect to pcscd a second time, and its successor may.
    case .ended(ReaderChild.success): ended(nil)
    case .ended(let how): ended("\(program) --list \(how)")
    }
  }

  private func take(_ event: Event) {
    guard !isStopped else { return }
    guard count.next(at: .now) <= Self.mostEvents else { return kill("sent lists without end") }
    continuation.yield(event)
    // Another process would meet the same problem, and pcscd logs each attempt that polkit refuses.
    if case .problem(let problem) = event, [.refused, .closed, .otherVersion].contains(problem.kind) {
      restarts.isHopeless()
    }
  }

  private func kill(_ cause: String) { process?.assumeIsolated { $0.kill(cause) } }

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
}
