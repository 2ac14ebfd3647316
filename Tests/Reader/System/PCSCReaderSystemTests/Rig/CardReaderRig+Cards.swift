import Daemon
import EventLoop
import Glibc
import Journal
import TestKit
import Testing

@testable import ReaderProtocol
@testable import ReaderSimulator

/// Cards, and what reaches them.
extension CardReaderRig {
  @discardableResult func insert(_ tag: SimulatedTag) async throws -> TagID { try await place(tag) }

  @discardableResult func insert(_ card: SimulatedCard) async throws -> TagID {
    try await readers.insert(card, into: slot)
  }

  @discardableResult func remove(_ id: TagID) async -> SimulatedCard? { await readers.remove(id) }

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
      try await readers.wait { condition($0) || isLate.withLock { $0 } }
    }
  }

  /// Waits until a fault holds an answer back.
  func isHolding() async throws {
    try await wait(for: "a held answer") { [slot] in $0.isHolding(slot) }
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

  /// Waits for a notice in the log that begins with these words.
  func notices(_ words: String) async throws {
    try await next("a notice: \(words)") { event in
      if case .log(.notice, let line) = event, line.hasPrefix(words) { true } else { nil }
    }
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
    // pcscd has no event for the end of a connection.
    while let error = try await client.error(of: "connect exclusive \(name)") {
      try Task.checkCancellation()
      guard ["SCARD_E_SHARING_VIOLATION", "SCARD_E_NO_SMARTCARD"].contains(error) else {
        throw await failure("expected a free card, got \(error)")
      }
    }
    try await client.ask("disconnect leave")
  }
}

/// Operations in a session.
extension CardReaderRig {
  /// Sends a raw command, given in hexadecimal digits, and returns the answer.
  func transceive(_ command: String, _ tag: SessionTag, timeout: UInt32 = 5000) async throws -> [UInt8] {
    try await transceive(try hex(command), tag, timeout: timeout)
  }

  /// Why a raw command has no answer.
  func refusal(_ command: String, _ tag: SessionTag, timeout: UInt32 = 5000) async throws -> ReaderOperationFailure? {
    try await perform(.transceive(try hex(command), timeout: timeout), tag).failure
  }
}
