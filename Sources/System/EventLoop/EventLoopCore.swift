import CShims
import Glibc
import Synchronization

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
    let deadline = EventLoopCore.now() + max(0, delay.wholeNanoseconds)
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

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
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
  private func nextTimeout(_ timer: Timer?) -> Int64 { timer.map { max(0, $0.deadline - EventLoopCore.now()) } ?? -1 }

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
    let now = EventLoopCore.now()
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
