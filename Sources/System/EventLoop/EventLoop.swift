import CShims
import Glibc
import Synchronization

/// The serial executor of a process: one thread that runs libdbus and makes all decisions.
///
/// Actors with the same event loop as their executor never run at the same time. A call from one to another does not
/// change threads, and `assumeIsolated` works between them. Handlers of descriptors and timers run on the same thread.
///
/// The loop is a thread with its own epoll instance, not a dispatch queue. Dispatch sources on Linux lose an end of
/// file that arrives together with data (swift-corelibs-libdispatch#949). They also crash when a descriptor that has
/// hung up is torn down (swift-subprocess#47). Both happen every day in a process that watches sockets and children.
///
/// No code on the loop may block. A C library that blocks gets a separate loop, and so a separate thread.
public final class EventLoop: SerialExecutor, Sendable {
  private let core: EventLoopCore

  /// Starts the loop's thread, which ends some time after the last reference to the loop is released.
  ///
  /// - Parameter label: the thread's name. It is cut to 15 bytes.
  public init(label: String) {
    core = EventLoopCore(label: label)
    core.start()
  }

  deinit { core.stop() }

  /// Runs `job` on the loop, after all jobs that were enqueued before it.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The closure keeps the loop alive until the job has run.
    core.execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Ordinary: jobs are compared by the identity of the loop.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Traps if the caller is not on the loop.
  public func checkIsolated() {
    precondition(core.isCurrent, "not on the event loop")
  }

  /// Whether the caller runs on the loop.
  public func isIsolatingCurrentContext() -> Bool? { core.isCurrent }

  /// Runs `body` on the loop, after all jobs that were enqueued before it.
  public func execute(_ body: @escaping @Sendable () -> Void) { core.execute(body) }

  /// Runs `body` on the loop once, after `delay`, unless the timer is cancelled first.
  ///
  /// The clock (CLOCK_MONOTONIC) does not advance while the machine sleeps. A timer is never early.
  ///
  /// - Parameters:
  ///   - delay: the minimum time to wait.
  ///   - body: the code to run.
  /// - Returns: a timer that can be cancelled. Releasing it does not cancel it.
  @discardableResult
  public func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> LoopTimer {
    LoopTimer(core: core, identifier: core.addTimer(after: delay, body))
  }

  func watch(_ descriptor: Int32, for interest: DescriptorWatch.Interest, _ handler: @escaping @Sendable () -> Void)
    throws(SystemError) -> (core: EventLoopCore, identifier: UInt64)
  {
    (core, try core.addWatch(descriptor, interest, handler))
  }
}

/// A callback that a loop will make at a later time.
public struct LoopTimer: Sendable {
  fileprivate let core: EventLoopCore
  fileprivate let identifier: UInt64

  /// Cancels the timer. After a call on the loop, the callback does not start.
  public func cancel() { core.removeTimer(identifier) }
}

/// The state that a loop's thread owns: jobs, timers and watched descriptors.
///
/// Separate from `EventLoop` so that the thread does not keep the loop alive. A lock guards the state, because other
/// threads add work. The lock is never held while work runs.
final class EventLoopCore: Sendable {
  typealias Body = @Sendable () -> Void

  private struct Timer {
    let identifier: UInt64
    /// Nanoseconds of CLOCK_MONOTONIC.
    let deadline: Int64
    let body: Body
  }

  private struct State {
    var jobs: [Body] = []
    /// Sorted by deadline, the earliest last.
    var timers: [Timer] = []
    var watches: [UInt64: (descriptor: Int32, handler: Body)] = [:]
    var lastIdentifier: UInt64 = 0
    var isWoken = false
    var isStopped = false

    mutating func newIdentifier() -> UInt64 {
      lastIdentifier += 1
      return lastIdentifier
    }
  }

  /// The identifier of the wake-up descriptor among epoll's events. Identifiers of watches start at 1.
  private static let wakeUp: UInt64 = 0

  private let label: String
  private let state = Locked(State())
  private let thread = Atomic<UInt>(0)
  private let poll: FileDescriptor
  private let wake: FileDescriptor

  init(label: String) {
    self.label = label
    poll = FileDescriptor(owning: tagroute_poll_create())
    wake = FileDescriptor(owning: tagroute_event_descriptor())
    precondition(
      poll.rawValue >= 0 && wake.rawValue >= 0, "cannot make an event loop: \(SystemError("open a descriptor"))")
    _ = tagroute_poll_add(poll.rawValue, wake.rawValue, 1, 0, EventLoopCore.wakeUp)
  }

  var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Traps if the process has no thread left, as `init` does without a descriptor. Both happen before the process
  /// starts its work.
  func start() {
    do throws(SystemError) {
      try DedicatedThread.start { self.run() }
    } catch {
      preconditionFailure("cannot make an event loop: \(error)")
    }
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    wakeUpThread()
  }

  func execute(_ body: @escaping Body) {
    let mustWake = state.withLock { state in
      state.jobs.append(body)
      defer { state.isWoken = true }
      return !state.isWoken
    }
    if mustWake && !isCurrent { wakeUpThread() }
  }

  func addTimer(after delay: Duration, _ body: @escaping Body) -> UInt64 {
    let deadline = SystemClock.monotonic + max(0, delay.wholeNanoseconds)
    let (identifier, isNext) = state.withLock { state in
      let timer = Timer(identifier: state.newIdentifier(), deadline: deadline, body: body)
      // Insert the timer before those with the same deadline. Timers are taken from the end, so it runs after them.
      let index = state.timers.firstIndex { $0.deadline <= deadline } ?? state.timers.endIndex
      state.timers.insert(timer, at: index)
      return (timer.identifier, index == state.timers.count - 1)
    }
    if isNext && !isCurrent { wakeUpThread() }
    return identifier
  }

  func removeTimer(_ identifier: UInt64) {
    // The closure is released outside the lock, because a deinit of its contents may call back.
    let removed = state.withLock { state in
      state.timers.firstIndex { $0.identifier == identifier }.map { state.timers.remove(at: $0) }
    }
    withExtendedLifetime(removed) {}
  }

  func addWatch(_ descriptor: Int32, _ interest: DescriptorWatch.Interest, _ handler: @escaping Body)
    throws(SystemError) -> UInt64
  {
    let identifier = state.withLock { state in
      let identifier = state.newIdentifier()
      state.watches[identifier] = (descriptor, handler)
      return identifier
    }
    let (reading, writing): (Int32, Int32) = (interest.contains(.reading) ? 1 : 0, interest.contains(.writing) ? 1 : 0)
    guard tagroute_poll_add(poll.rawValue, descriptor, reading, writing, identifier) == 0 else {
      let error = SystemError("watch a file descriptor")
      let removed = state.withLock { $0.watches.removeValue(forKey: identifier) }
      withExtendedLifetime(removed) {}
      throw error
    }
    return identifier
  }

  func removeWatch(_ identifier: UInt64) {
    let removed = state.withLock { $0.watches.removeValue(forKey: identifier) }
    guard let removed else { return }
    _ = tagroute_poll_remove(poll.rawValue, removed.descriptor)
  }

  private func wakeUpThread() {
    var one: UInt64 = 1
    _ = write(wake.rawValue, &one, MemoryLayout<UInt64>.size)
  }

  private func run() {
    thread.store(UInt(pthread_self()), ordering: .relaxed)
    _ = tagroute_set_thread_name(String(decoding: label.utf8.prefix(15), as: UTF8.self))
    var ready = [UInt64](repeating: 0, count: 64)
    while true {
      let (timeout, isStopped) = state.withLock { ($0.jobs.isEmpty ? nextTimeout($0.timers.last) : 0, $0.isStopped) }
      if isStopped { return }
      let count = tagroute_poll_wait(poll.rawValue, &ready, timeout)
      for identifier in ready.prefix(Int(max(0, count))) { handle(identifier) }
      runTimers()
      runJobs()
    }
  }

  /// In nanoseconds; -1 without a timer.
  private func nextTimeout(_ timer: Timer?) -> Int64 { timer.map { max(0, $0.deadline - SystemClock.monotonic) } ?? -1 }

  private func handle(_ identifier: UInt64) {
    if identifier == EventLoopCore.wakeUp {
      var count: UInt64 = 0
      _ = read(wake.rawValue, &count, MemoryLayout<UInt64>.size)
    } else {
      // Identifiers are never reused, so an event for a watch that an earlier handler cancelled finds no handler.
      let handler = state.withLock { $0.watches[identifier]?.handler }
      handler?()
    }
  }

  private func runTimers() {
    let now = SystemClock.monotonic
    // Take one timer at a time, because it may cancel the next.
    while let timer = state.withLock({ ($0.timers.last?.deadline ?? .max) <= now ? $0.timers.popLast() : nil }) {
      timer.body()
    }
  }

  /// Runs the jobs that are queued now. Jobs that these add wait until descriptors and timers have had their turn.
  private func runJobs() {
    let jobs = state.withLock { state in
      state.isWoken = false
      let jobs = state.jobs
      state.jobs = []
      return jobs
    }
    for job in jobs { job() }
  }
}

extension Duration {
  fileprivate var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max / 2 : min(.max / 2, product &+ attoseconds / 1_000_000_000)
  }
}

/// Calls a handler on a loop while a descriptor is ready, until the watch is cancelled or released.
///
/// Level-triggered: the loop calls the handler repeatedly until the handler has read or written enough, or has
/// cancelled the watch. The end of the file, a hang-up and an error also make a descriptor ready. A loop allows one
/// watch per descriptor; for a second watch, duplicate the descriptor.
public final class DescriptorWatch: Sendable {
  /// The readiness that a watch waits for.
  public struct Interest: OptionSet, Sendable {
    /// One bit each for `reading` and `writing`.
    public let rawValue: UInt8

    /// - Parameter rawValue: one bit each for `reading` and `writing`.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// There is data to read.
    public static let reading = Interest(rawValue: 1)
    /// There is room to write.
    public static let writing = Interest(rawValue: 2)
  }

  private let descriptor: FileDescriptor
  private let core: EventLoopCore
  private let identifier: UInt64

  /// - Parameters:
  ///   - descriptor: the descriptor to watch. It stays open while the watch exists.
  ///   - interest: the readiness to wait for.
  ///   - loop: the loop that runs `handler`.
  ///   - handler: called on the loop while the descriptor is ready.
  /// - Throws: `SystemError` if the descriptor cannot be watched (a regular file) or is already watched.
  public init(
    _ descriptor: FileDescriptor, for interest: Interest = .reading, on loop: EventLoop,
    handler: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    self.descriptor = descriptor
    (core, identifier) = try loop.watch(descriptor.rawValue, for: interest, handler)
  }

  /// Stops the watch. After a call on the loop, the handler is not called again. A second call has no effect.
  public func cancel() { core.removeWatch(identifier) }

  deinit { core.removeWatch(identifier) }
}
