import EventLoop
import Glibc
import TestRig
import Testing

@testable import ReaderLink
@testable import ReaderSimulator

/// Cards, and what reaches them.
extension CardReaderRig {
  @discardableResult func insert(_ tag: SimulatedTag) async throws -> TagID { try await insert(SimulatedCard(tag)) }

  @discardableResult func insert(_ card: SimulatedCard) async throws -> TagID {
    try await readers.insert(card, into: slot)
  }

  @discardableResult func remove(_ id: TagID) async -> SimulatedCard? { await readers.remove(id) }

  /// Inserts an NTAG213 with a link. The next tag that is announced has to have this link.
  @discardableResult func announces(
    _ link: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> (id: TagID, placement: Placement) {
    let bytes = try uri(link)
    let id = try await insert(try .type2(.ntag213, message: bytes))
    let (message, placement) = try await message()
    #expect(message == bytes, sourceLocation: sourceLocation)
    return (id, placement)
  }

  /// Takes a card away. The next placement that ends has to be this one, and no tag may be announced before that.
  func takeAway(
    _ id: TagID, _ placement: Placement, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    await remove(id)
    #expect(try await removal() == placement.number, sourceLocation: sourceLocation)
  }

  /// Expects that a scanning process has nothing more to announce: it sleeps until the next event.
  func announcesNothing(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let before = announced.count
    try await isAsleep()
    // The process confirms another goal after all earlier events. For the cards it makes no difference.
    await configure { $0.interval += .milliseconds(1) }
    try await expect(.scanning(true))
    #expect(announced.count == before, "\(announced.suffix(1))", sourceLocation: sourceLocation)
  }

  /// The commands that a card got.
  func commands(_ id: TagID) async -> [[UInt8]] { await readers.commands(to: id) }

  func powerUps(_ id: TagID) async -> Int { await readers.powerUps(of: id) }

  /// Inserts a fault into the slot.
  func add(_ fault: CardFault) async { await readers.add(fault, to: slot) }

  // MARK: Waiting

  /// Waits until the simulation meets a condition.
  func wait(for what: String, _ condition: @escaping SimulatedCardReaders.Condition) async throws {
    try await watched(what) { isLate in
      await readers.wait { condition($0) || isLate.withLock { $0 } }
    }
  }

  /// Waits until a fault holds an answer back.
  func isHolding() async throws {
    try await wait(for: "a held answer") { [slot] in $0.isHolding(slot) }
  }

  /// Waits until the process sleeps, and nothing but a command or an event of pcscd wakes it.
  func isAsleep() async throws {
    try await watched("a sleeping process") { _ in await process.wait { $0.isAsleep } }
  }

  /// Does something that wakes the sleeping process. Waits until the process has handled it, and sleeps again.
  @discardableResult func awaken<T>(by body: () async throws -> T) async throws -> T {
    try await isAsleep()
    let (registrations, registration) = AsyncStream.makeStream(of: Void.self)
    let waking = Task { [process] in
      await process.wait { process in
        registration.yield()
        return !process.isAsleep
      }
    }
    for await _ in registrations { break }
    let result = try await body()
    try await watched("a process that wakes") { _ in await waking.value }
    try await isAsleep()
    return result
  }

  /// Waits for `body`, but not forever: it fails with the logs.
  private func watched(_ what: String, _ body: (Locked<Bool>) async -> Void) async throws {
    let isLate = Locked(false)
    let watchdog = timers.schedule(after: ChildProcess.timeout) { [process, readers] in
      isLate.withLock { $0 = true }
      Task {
        await process.stop()
        await readers.resumeWaiters()
      }
    }
    await body(isLate)
    watchdog.cancel()
    if isLate.withLock({ $0 }) { throw await failure("expected \(what)") }
  }

  // MARK: The process

  /// Stops the process while `body` runs, so that another program is the first to use a card.
  func whileSuspended(_ body: () async throws -> Void) async throws {
    try await isAsleep()
    let child = try ForeignProcess(try #require(await process.processID))
    try await child.suspend()
    defer { child.signal(SIGCONT) }
    try await body()
  }

  func killProcess(_ signal: Int32 = SIGKILL) async throws { kill(try #require(await process.processID), signal) }

  // MARK: pcscd

  /// Starts pcscd again, and makes the process look for it at once.
  func restartPCSCD() async throws {
    try await pcscd.restart()
    try await readers.waitUntilOpen(by: pcscd)
    await process.lookForDevice()
  }

  func client(starter: String = #function) async throws -> PCSCClient {
    try await PCSCClient(socket: pcscd.socket, starter: starter)
  }

  /// Waits until no program is connected to the card, which stays as it is. It may have been away for a moment.
  func isFree(_ client: PCSCClient) async throws {
    while let error = try await client.error(of: "connect exclusive \(name)") {
      guard ["SCARD_E_SHARING_VIOLATION", "SCARD_E_NO_SMARTCARD"].contains(error) else {
        throw await failure("expected a free card, got \(error)")
      }
    }
    try await client.ask("disconnect leave")
  }
}
