public import EventLoop
import Glibc
import Journal

/// The daemon's side of one reader: keeps a `tagroute-reader` process for it alive and says what it finds.
///
/// Nothing that a process does, a crash, a wedge or garbage, costs the daemon more than an event. Owned by the daemon's
/// loop; it wakes only for messages and, while the process is busy, to see whether it lives.
public actor ReaderProcess {
  /// What happens, in order. For one consumer; ends after `stop()`.
  public nonisolated let events: AsyncStream<ReaderProcessEvent>
  /// The loop that owns this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  /// The id of the present process; nil where there is none.
  public private(set) var processID: Int32?

  /// Whether the process sleeps until it is told something, as it has said.
  public var isAsleep: Bool { supervision.isAsleep }

  /// Events that wait to be read: far more than a process has to say between two turns of the loop. One that says more is
  /// ended, and there is as much room again for what becomes of it.
  private static let mostUnread = 64

  private nonisolated let loop: EventLoop
  private let configuration: Configuration
  private let continuation: AsyncStream<ReaderProcessEvent>.Continuation
  private var supervision: ReaderSupervision
  private var link: ReaderLinkEnd?
  /// How many processes there have been: tells the present one from those before it.
  private var spawns: UInt64 = 0
  private var killIsDue = false
  /// The present process has said more than is read: it is about to be ended, and nothing of it counts any more.
  private var isFlooding = false
  private var timer: LoopTimer?
  private var timerIsSetFor: SuspendingClock.Instant?
  private var waiters: [(condition: Condition, continuation: CheckedContinuation<Void, Never>)] = []
  private var stopWaiters: [CheckedContinuation<Bool, Never>] = []
  /// Set when it is stopped for good: whether the last process is reaped.
  private var isReaped: Bool?

  /// Creates a reader without a process; `start()` starts it.
  ///
  /// - Parameters:
  ///   - configuration: what the process is started with.
  ///   - known: the tags that lie on the reader and were announced, as the last `.known` for this device said.
  ///   - loop: the loop that owns this actor.
  public init(_ configuration: Configuration, known: KnownTags = KnownTags(), on loop: EventLoop) {
    self.configuration = configuration
    supervision = ReaderSupervision(ReaderTiming(device: configuration.device), known: known)
    self.loop = loop
    (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(2 * Self.mostUnread))
  }

  /// Starts the process, and keeps one alive from here on.
  public func start() { handle(.start) }

  /// What the reader should be doing from now on. `.phase` follows with this epoch once that is in force; a process
  /// that is started later is told.
  ///
  /// - Parameters:
  ///   - epoch: one more than that of the goal before.
  ///   - goal: what the reader should be doing.
  public func pursue(_ epoch: UInt64, _ goal: ReaderGoal) { handle(.pursue(epoch, goal)) }

  /// Sees at once whether the device is there, since something was plugged in or unplugged. A process that waits to be
  /// started again is started now.
  public func lookForDevice() { handle(.lookForDevice) }

  // MARK: Reader sessions

  /// Forgets the tags of a session and looks anew, with the field off for a moment.
  ///
  /// - Parameter number: the session.
  public func restartPolling(_ number: UInt64) { handle(.restartPolling(session: number)) }

  /// Does something with a tag of a session: `.performed` follows, whatever happens, once for each request and in their order.
  ///
  /// - Parameters:
  ///   - operation: what to do, within `ReaderLimits` and `ReaderOperation.timeouts`.
  ///   - request: a number that no other request has.
  ///   - placement: the tag.
  ///   - session: the session.
  public func perform(_ operation: ReaderOperation, request: UInt64, placement: UInt64, session: UInt64) {
    handle(.perform(session: session, request: request, placement: placement, operation))
  }

  /// Ends the process for good: asks it to switch its field off and end, kills it where it is not heard of in time or does not
  /// end within `ReaderTiming.stop`, and waits until it is reaped, but no longer than `ReaderTiming.kill` more.
  ///
  /// - Returns: whether it has ended; not where the kernel holds it, inside of a driver that hangs.
  @discardableResult public func stop() async -> Bool {
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

  /// What somebody waits for.
  typealias Condition = @Sendable (isolated ReaderProcess) -> Bool

  /// Returns as soon as `condition` holds, or when the process is stopped for good; it is looked at anew after everything that
  /// happens.
  ///
  /// - Parameter condition: what to wait for.
  func wait(until condition: @escaping Condition) async {
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
    case .report(let event): report(event)
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

  private func report(_ event: ReaderProcessEvent) {
    guard case .enqueued(let room) = continuation.yield(event), room < Self.mostUnread else { return }
    isFlooding = true
    // Later, since this is in the middle of performing actions; by then it may have ended and been replaced.
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
        configuration.arguments, environment: configuration.environment, output: nil, link: theirs, on: loop
      ) { [self] event in
        assumeIsolated { $0.childReported(event) }
      }
    } catch {
      // As if the thread had said so: never inside of `handle`.
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
      // What it said last may name the tag that ended it.
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

  /// Arms the timer for the supervision's deadline. One that is set for an earlier time stays: it finds nothing due and
  /// is armed anew then, which is cheaper than setting it with every heartbeat.
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
        // Where this process was held up, what it waits for may be here already.
        $0.link?.drain()
        $0.handle(.tick)
      }
    }
    timerIsSetFor = deadline
  }
}
