import Bus
import CShims
import EventLoop
import Glibc

/// Locks of logind. `Inhibit` takes one; closing the caller's end of the pipe releases it.
extension LogindStandIn {
  /// A held lock.
  package struct Lock: Sendable, Hashable {
    /// `sleep`, or several words separated by colons.
    package let what: String
    /// The holder of the lock.
    package let who: String
    /// `delay` or `block`.
    package let mode: String
  }

  /// The locks that are held at this moment. Locks released a moment ago are left out, even before their watch has
  /// fired.
  package var locks: [Lock] {
    heldLocks.values.filter { held in
      var end = pollfd(fd: held.end.rawValue, events: 0, revents: 0)
      return poll(&end, 1, 0) == 0
    }.map(\.lock)
  }

  /// Waits until this many locks are held.
  package func untilHeld(_ count: Int) async {
    while heldLocks.count != count { await withCheckedContinuation { lockWaiters.append($0) } }
  }

  /// Waits until this many locks were granted in total, across restarts.
  package func untilGiven(_ count: Int) async {
    while lastLock < count { await withCheckedContinuation { lockWaiters.append($0) } }
  }

  func inhibit(_ call: IncomingCall) throws -> FileDescriptor {
    guard !refusesLocks else { throw BusError(name: BusError.Name.accessDenied, message: "not now") }
    let words = call.arguments.map { $0.asString ?? "" }
    guard !(isSleeping && words[0] == "sleep") else {
      throw BusError(
        name: "org.freedesktop.login1.OperationInProgress",
        message: "The operation inhibition has been requested for is already running")
    }
    var ends: [Int32] = [-1, -1]
    guard tagroute_pipe(&ends) == 0 else { throw SystemError("make a pipe") }
    let ours = FileDescriptor(owning: ends[0])
    let theirs = FileDescriptor(owning: ends[1])
    lastLock += 1
    let number = lastLock
    let watch = try DescriptorWatch(ours, on: loop) { [weak self] in
      self?.assumeIsolated { $0.changeLocks { $0[number] = nil } }
    }
    changeLocks { $0[number] = (Lock(what: words[0], who: words[1], mode: words[3]), ours, watch) }
    return theirs
  }

  private func changeLocks(_ change: (inout [Int: (lock: Lock, end: FileDescriptor, watch: DescriptorWatch)]) -> Void) {
    change(&heldLocks)
    for waiter in lockWaiters { waiter.resume() }
    lockWaiters = []
  }
}
