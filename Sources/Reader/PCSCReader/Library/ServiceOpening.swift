import EventLoop

/// Establishes the contexts of this process, on a thread that ends with it. pcscd may make it wait, for example for a
/// decision of polkit.
final class ServiceOpening: Sendable {
  /// One context for each thread that stays.
  struct Contexts: Sendable {
    let slot: PCSCContext
    let card: PCSCContext
  }

  private let result = Locked<Result<Contexts, PCSCError>?>(nil)
  let since = SuspendingClock.now

  /// Starts the thread, which sends `wake` at its end. Fails if the system has no thread left.
  init(wake: Signal) throws(SystemError) {
    try DedicatedThread.start { [self] in
      let opened = Result { () throws(PCSCError) in try Self.open() }
      result.withLock { $0 = opened }
      wake.send()
    }
  }

  private static func open() throws(PCSCError) -> Contexts {
    let slot = try PCSCContext.establish()
    do throws(PCSCError) {
      return Contexts(slot: slot, card: try PCSCContext.establish())
    } catch {
      slot.release()
      throw error
    }
  }

  /// The result; nil while the thread runs.
  func take() -> Result<Contexts, PCSCError>? { result.withLock { $0 } }
}
