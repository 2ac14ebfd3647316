import Bus
import EventLoop

/// The event loop that owns every decision of the daemon. All parts of the daemon are isolated to it. So a part calls
/// another one without waiting, and nothing comes between a decision and its effects.
///
/// A task of a part starts on the loop, too. Such tasks start in the order of their creation, and each one sends at once,
/// so a peer on the bus gets messages in order.
@globalActor actor DaemonLoop {
  static let shared = DaemonLoop()

  private nonisolated let loop = EventLoop(label: "tagrouted")
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  static var loop: EventLoop { shared.loop }

  /// Runs `body` at once in a callback of the loop, like `MainActor.assumeIsolated`. Traps elsewhere.
  static func assumeIsolated(_ body: @DaemonLoop () -> Void) {
    shared.preconditionIsolated()
    // The check above has shown what the type of the function demands.
    withoutActuallyEscaping(body) { unsafeBitCast($0, to: (() -> Void).self)() }
  }

  /// Runs `body` once, after `delay`, unless the timer is cancelled first.
  @discardableResult
  static func schedule(after delay: Duration, _ body: @escaping @DaemonLoop @Sendable () -> Void) -> LoopTimer {
    loop.schedule(after: delay) { assumeIsolated(body) }
  }
}

extension ExportedMethod {
  init<Part: AnyObject & Sendable>(
    _ name: String, in input: [Argument] = [], out output: [Argument] = [], _ part: Part,
    answer: @escaping @DaemonLoop @Sendable (Part, IncomingCall) async throws -> [Value]
  ) {
    self.init(name, in: input, out: output) { [weak part] _, call in
      guard let part else { throw BusError.disconnected() }
      return try await answer(part, call)
    }
  }
}
