package import EventLoop
import Glibc
package import Journal
package import ReaderProtocol

/// The daemon's side of one reader: keeps a `tagroute-reader` or `tagroute-reader-pcsc` process alive and reports its
/// events.
///
/// A crash, a hang or garbage of a process costs the daemon no more than an event. The daemon's loop owns this actor.
/// It wakes only for messages and, while the process is busy, to check that the process is alive.
package actor ReaderProcess {
  /// For one consumer. The stream ends after `stop()`.
  package nonisolated let events: AsyncStream<ReaderProcessEvent>
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  /// Nil if there is none.
  package private(set) var processID: Int32?

  /// Until the daemon sends a command.
  package var isAsleep: Bool { supervision.isAsleep }

  /// The most unread events: far more than a process sends between two turns of the loop. The daemon ends a process
  /// that exceeds this. The stream has as much room again for the events of that end.
  private static let mostUnread = 64

  private nonisolated let loop: EventLoop
  private var configuration: Configuration
  private let continuation: AsyncStream<ReaderProcessEvent>.Continuation
  private var supervision: ReaderSupervision
  private var link: ReaderLinkEnd?
  /// It distinguishes the present process from former ones.
  private var spawns: UInt64 = 0
  private var killIsDue = false
  /// The present process has exceeded `mostUnread`. It is about to be ended, and its messages are ignored.
  private var isFlooding = false
  private var timer: LoopTimer?
  private var timerIsSetFor: SuspendingClock.Instant?
  private var waiters: [(condition: Condition, continuation: CheckedContinuation<Void, Never>)] = []
  private var stopWaiters: [CheckedContinuation<Bool, Never>] = []
  /// Set when the reader is stopped for good: whether the last process is reaped.
  private var isReaped: Bool?

  /// `known` lists the announced tags that lie on the reader, from the last `.known` event of this device. `start()`
  /// starts the process.
  package init(_ configuration: Configuration, known: KnownTags = KnownTags(), on loop: EventLoop) {
    self.configuration = configuration
    supervision = ReaderSupervision(ReaderTiming(device: configuration.device), known: known)
    self.loop = loop
    (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(2 * Self.mostUnread))
  }

  /// From here on, restarts the process whenever it ends.
  package func start() { handle(.start) }

  /// Sets the reader's goal. `.phase` with this epoch follows once the goal is in force. A process that is started
  /// later gets the goal too. The epoch is one higher than that of the previous goal.
  package func pursue(_ epoch: UInt64, _ goal: ReaderGoal) { handle(.pursue(epoch, goal)) }

  /// Checks at once whether the device is present, because a device was plugged in or unplugged. If the next process
  /// waits for its start, it is started now.
  package func lookForDevice() { handle(.lookForDevice) }

  /// With its LED and buzzer. Only for a reader of pcscd.
  package func identify() { handle(.identify) }

  /// Starts another process, which writes a trace to this socket.
  package func record(in trace: FileDescriptor) {
    configuration.trace = trace
    handle(.restart)
  }

  /// The next process writes no trace. It starts now, or when the present one ends.
  package func endRecording(restarts: Bool) {
    configuration.trace = nil
    if restarts { handle(.restart) }
  }

  // MARK: Reader sessions

  /// Forgets the tags of a session and polls again, with the field off for a moment in between. Until the next restart,
  /// only tags of these options are found. They are a part of those that the session began with.
  package func restartPolling(_ options: TagSessionOptions) { handle(.restartPolling(options)) }

  /// Runs an operation on a tag of a session. `.performed` follows exactly once for each request, in the order of the
  /// requests. A request that cannot run is answered at once. The operation is within `ReaderLimits` and
  /// `ReaderOperation.timeouts`. No other request has the number `request`.
  package func perform(_ operation: ReaderOperation, request: UInt64, placement: UInt64, session: UInt64) {
    handle(.perform(session: session, request: request, placement: placement, operation))
  }

  /// Ends the process for good. First asks it to turn its field off and exit. Kills it if it misses its heartbeat or
  /// does not exit within `ReaderTiming.stop`. Then waits for at most `ReaderTiming.kill` until it is reaped. Returns
  /// whether the process has ended. It has not if the kernel keeps it, inside a driver that hangs.
  @discardableResult package func stop() async -> Bool {
    handle(.stop)
    if let isReaped { return isReaped }
    return await withCheckedContinuation { stopWaiters.append($0) }
  }

  private func handle(_ event: ReaderSupervision.Event) {
    let actions = supervision.handle(event, at: .now)
    for action in actions { perform(action) }
    schedule()
    resumeWaiters()
  }

  // MARK: Waiting

  package typealias Condition = @Sendable (isolated ReaderProcess) -> Bool

  /// Also returns when the process is stopped for good. Evaluates the condition after each event.
  package func wait(until condition: @escaping Condition) async {
    guard !condition(self), isReaped == nil else { return }
    await withCheckedContinuation { waiters.append((condition, $0)) }
  }

  private func resumeWaiters() {
    guard !waiters.isEmpty else { return }
    let due = waiters.filter { $0.condition(self) || isReaped != nil }
    waiters.removeAll { $0.condition(self) || isReaped != nil }
    for waiter in due { waiter.continuation.resume() }
  }

  private func perform(_ action: ReaderSupervision.Action) {
    switch action {
    case .spawn: spawn()
    case .send(let command): link?.send(command.frame)
    case .kill: killChild()
    case .report(let event): yield(event)
    case .finish: finish(isReaped: true)
    case .abandon: finish(isReaped: false)
    }
  }

  private func finish(isReaped: Bool) {
    self.isReaped = isReaped
    timer?.cancel()
    timer = nil
    continuation.finish()
    for waiter in stopWaiters { waiter.resume(returning: isReaped) }
    stopWaiters = []
  }

  /// A process that sends more than the daemon takes in is ended.
  private func yield(_ event: ReaderProcessEvent) {
    guard case .enqueued(let room) = continuation.yield(event), room < Self.mostUnread else { return }
    isFlooding = true
    // Defer this, because actions are being performed now. The process may end and be replaced in between.
    let culprit = spawns
    loop.execute {
      self.assumeIsolated { process in
        guard process.spawns == culprit else { return }
        process.handle(.violated("more than anybody can take in"))
      }
    }
  }

  // MARK: The process

  private func spawn() {
    spawns += 1
    killIsDue = false
    isFlooding = false
    do throws(SystemError) {
      let (ours, theirs) = try ReaderLinkEnd.pair(on: loop) { [weak self] arrival in
        self?.assumeIsolated { $0.arrived(arrival) }
      }
      link = ours
      try ReaderChild.start(
        configuration.arguments, environment: configuration.environment, link: theirs, trace: configuration.trace,
        on: loop
      ) { [self] event in
        assumeIsolated { $0.childReported(event) }
      }
    } catch {
      // Report this later, as the thread does, and never inside `handle`.
      loop.execute { self.assumeIsolated { $0.childReported(.failed(error)) } }
    }
  }

  private func childReported(_ event: ReaderChild.Event) {
    switch event {
    case .started(let child):
      processID = child
      resumeWaiters()
      if killIsDue { kill(child, SIGKILL) }
    case .failed(let error):
      closeLink()
      handle(.startFailed("\(error)"))
    case .ended(let child):
      // Its last message may name the tag that crashed it.
      link?.drain()
      closeLink()
      processID = nil
      handle(.exited(ReaderChild.reap(child)))
    }
  }

  private func killChild() {
    guard let processID else {
      killIsDue = true
      return
    }
    kill(processID, SIGKILL)
  }

  private func closeLink() {
    link?.close()
    link = nil
  }

  private func arrived(_ arrival: ReaderLinkEnd.Arrival) {
    for payload in arrival.payloads where !isFlooding {
      do throws(ReaderLinkError) {
        handle(.received(try ReaderMessage(payload: payload)))
      } catch {
        return handle(error.isOtherVersion ? .isOtherVersion(error.description) : .violated(error.description))
      }
    }
    switch arrival.end {
    case .hungUp: handle(.hungUp)
    case .garbage(let error): handle(.violated(error.description))
    case nil: break
    }
  }

  // MARK: Time

  /// Arms the timer for the supervision's deadline. A timer that is set for an earlier time stays: it fires early and
  /// is armed again, which is cheaper than setting it with every heartbeat.
  private func schedule() {
    guard let deadline = supervision.deadline else {
      timer?.cancel()
      timer = nil
      timerIsSetFor = nil
      return
    }
    if let timerIsSetFor, timerIsSetFor <= deadline { return }
    timer?.cancel()
    timer = loop.schedule(after: SuspendingClock.now.duration(to: deadline)) { [weak self] in
      self?.assumeIsolated {
        $0.timerIsSetFor = nil
        // If the daemon was delayed, the awaited message may have arrived already.
        $0.link?.drain()
        $0.handle(.tick)
      }
    }
    timerIsSetFor = deadline
  }
}

extension ReaderProcess {
  package struct Configuration: Sendable, Hashable {
    /// The absolute path of `tagroute-reader`, or of `tagroute-reader-pcsc` for a device `pcsc:NAME`.
    package var program: String
    /// A libnfc connection string, `pn532_uart:/dev/ttyUSB0`, or `pcsc:NAME`; nil for the first device that libnfc finds.
    package var device: String?
    /// Whether the daemon calls `lookForDevice()` when the device is plugged in, or when a driver releases it. The
    /// process then retries less often.
    package var isFollowed: Bool
    /// The complete environment of the process, as `NAME=value`. It inherits no variable of the daemon.
    package var environment: [String]
    /// The socket to which the process writes a trace; nil for none. It keeps the borders of messages.
    package var trace: FileDescriptor?

    package init(
      program: String, device: String?, isFollowed: Bool = false, environment: [String] = []
    ) {
      self.program = program
      self.device = device
      self.isFollowed = isFollowed
      self.environment = environment
    }

    var arguments: [String] {
      var arguments = [program, "--link", String(ReaderChild.linkDescriptor)]
      if isFollowed { arguments.append("--followed") }
      if trace != nil { arguments.append("--trace") }
      if let device { arguments += ["--device", device] }
      return arguments
    }
  }
}

/// The phase of a reader. `Reader.State` on the bus is one of these.
package enum ReaderPhase: Sendable, Hashable {
  /// A process was started and has not reported yet whether its device is present.
  /// Can transition to: `.absent`, `.failed`, `.ready`, `.released`.
  case opening
  /// There is no device. The process looks for it.
  /// Can transition to: `.opening` (not reported), `.failed`, `.ready`, `.released`.
  case absent(reason: String)
  /// The device or its process cannot be used, and is retried. If the field was on, it may still be on.
  /// Can transition to: `.opening` (not reported), `.absent`, `.ready`, `.released`.
  case failed(reason: String)
  /// The device is open. The goal is `off`, or is not in force yet.
  /// Can transition to: `.absent`, `.failed`, `.scanning`, `.inSession`, `.released`.
  case ready(name: String, device: String)
  /// The process polls for tags to announce.
  /// Can transition to: `.absent`, `.failed`, `.ready`, `.inSession`, `.released`.
  case scanning
  /// The process serves the reader session of this number.
  /// Can transition to: `.absent`, `.failed`, `.ready`, `.scanning`, `.inSession`, `.released`.
  case inSession(UInt64)
  /// The device is closed for another program. It stays closed if a process ends.
  /// Can transition to: `.absent`, `.failed`, `.ready`.
  case released

  package var isOpen: Bool {
    switch self {
    case .ready, .scanning, .inSession: true
    case .opening, .absent, .failed, .released: false
    }
  }

  init(_ state: ReaderDeviceState) {
    switch state {
    case .absent(let reason): self = .absent(reason: reason)
    case .failed(let reason): self = .failed(reason: reason)
    case .ready(let name, let device): self = .ready(name: name, device: device)
    }
  }
}

/// The end of a process does not end the events.
package enum ReaderProcessEvent: Sendable, Hashable {
  /// The phase of the reader, and the epoch of the goal in force; nil if none is. If that goal uses no field, the field
  /// is off, unless the device has failed.
  case phase(ReaderPhase, reached: UInt64?)
  /// The reader is open and waits for another program, for this reason; empty if it no longer waits. A phase in which the
  /// device is not open ends the wait without another event.
  case waiting(reason: String)
  /// The contents of a tag, once per placement. It was found for the goal of this epoch.
  case tag(TagReport, epoch: UInt64)
  case removed(placement: UInt64)
  /// The list of known tags has changed. Hand it to the next `ReaderProcess` for this device.
  case known(KnownTags)
  /// The process ended without being stopped.
  case crashed(ReaderCrash)
  case log(LogLevel, String)
  /// The session's number, and the tag.
  case sessionTag(UInt64, SessionTag)
  /// The tag of this placement was removed. The end of a session does not report its remaining tags as removed.
  case sessionTagRemoved(UInt64, placement: UInt64)
  /// The session of this number has reported all tags that lie there together.
  case sessionRoundEnded(UInt64)
  /// The session of this number has restarted polling, and reported all earlier tags as removed. Several calls of
  /// `ReaderProcess.restartPolling` may lead to one event.
  case sessionPollingRestarted(UInt64)
  /// Once per request.
  case performed(request: UInt64, ReaderOperationResult)
  /// The total of the operation so far.
  case progress(request: UInt64, bytes: UInt32)
}

/// The end of a reader process that was not stopped.
package struct ReaderCrash: Sendable, Hashable {
  /// For example "killed by signal 11 (Segmentation fault)".
  package let reason: String
  /// The tag that the process was reading or running an operation on. It is not read again until it has been removed.
  package let suspect: Placement?
  /// The pause until the restart.
  package let restart: Duration
}
