import Glibc
import ReaderLink
import TestSupport
import Testing

@testable import ReaderSimulator

/// pcscd ends, or was never there. A confined process cannot connect again, so the next one does.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ServiceEndTests {
  enum Moment: CaseIterable {
    case idle, scanning, resting, session, engaged, lent

    var isInSession: Bool { self == .session || self == .engaged }
  }

  private static let ended = "pcscd has closed the connection: it has ended or was restarted"

  /// A tag that lies there all the time is announced at most once.
  @Test(arguments: Moment.allCases, [false, true])
  func `the reader works again after pcscd has ended`(moment: Moment, isKilled: Bool) async throws {
    let rig = try await CardReaderRig.asleep()
    let child = await rig.process.processID
    if moment == .scanning || moment == .resting { try await rig.scan(true) }
    if moment == .lent {
      await rig.lend(true)
      try await rig.expect(.lent(true))
    }
    if moment.isInSession {
      await rig.beginSession(ReaderSessionOptions(number: 1))
      try await rig.expect(.sessionBegan(1))
    }
    var id: TagID?
    if moment == .resting { id = try await rig.announces("https://example.com/1").id }
    if moment == .engaged {
      id = try await rig.insert(try .type2(.ntag213, message: try uri("https://example.com/1")))
      try await rig.next("a tag of the session") { if case .sessionTag = $0 { true } else { nil } }
    }
    if isKilled { await rig.pcscd.kill() } else { await rig.pcscd.stop() }
    if moment == .lent { await rig.lend(false) }
    #expect(try await rig.failed() == Self.ended)
    try await rig.restartPCSCD()
    try await rig.isReady()
    #expect(await rig.process.processID != child)
    try await rig.scan(true)
    try await rig.announcesNothing()
    #expect(rig.announced.count == (moment == .resting ? 1 : 0))
    if let id {
      await rig.remove(id)
      _ = try await rig.removal()
    }
    try await rig.announces("https://example.com/next")
    #expect(!rig.seen.contains { $0.isCrash })
  }

  /// Each command of the reading in turn.
  @Test(arguments: 1...6)
  func `a tag that was being read when pcscd ended is announced once`(command: Int) async throws {
    let rig = try await CardReaderRig.scanning()
    let bytes = try uri("https://example.com/1")
    await rig.add(.hold(command: command))
    let id = try await rig.insert(try .type4(message: bytes))
    try await rig.isHolding()
    await rig.pcscd.kill()
    await rig.readers.release(rig.slot)
    #expect(try await rig.failed() == Self.ended)
    try await rig.restartPCSCD()
    let (message, placement) = try await rig.message()
    #expect(message == bytes)
    try await rig.announcesNothing()
    #expect(rig.announced.count == 1)
    try await rig.takeAway(id, placement)
    #expect(!rig.seen.contains { $0.isCrash })
  }

  /// The process reads the tag of its session, or waits for another program.
  @Test(arguments: [false, true])
  func `an operation ends when pcscd does`(isWaiting: Bool) async throws {
    let rig = try await CardReaderRig.asleep()
    await rig.beginSession(ReaderSessionOptions(number: 1))
    try await rig.expect(.sessionBegan(1))
    try await rig.insert(try .type4(message: try uri("https://example.com/1")))
    let tag = try await rig.next("a tag") { if case .sessionTag(_, let tag) = $0 { tag } else { nil } }
    let client = try await rig.client()
    if isWaiting {
      // The process releases the card after a while.
      try await client.ask("connect shared \(rig.name)")
      try await client.ask("begin")
    } else {
      await rig.add(.hold())
    }
    await rig.process.perform(.read, request: 1, placement: tag.placement.number, session: 1)
    if isWaiting {
      try await rig.next("a wait") { if case .waiting = $0 { true } else { nil } }
    } else {
      try await rig.isHolding()
    }
    await rig.pcscd.kill()
    await rig.readers.release(rig.slot)
    let result = try await rig.next("an answer") { if case .performed(1, let result) = $0 { result } else { nil } }
    guard case .failed(.deviceLost, _) = result else {
      throw await rig.failure("expected a lost reader, got \(result)")
    }
    try await rig.restartPCSCD()
    try await rig.isReady()
    // Another session finds the card.
    await rig.beginSession(ReaderSessionOptions(number: 2))
    try await rig.expect(.sessionBegan(2))
    try await rig.next("a tag of the session") { if case .sessionTag(2, _) = $0 { true } else { nil } }
  }

  // MARK: No pcscd

  /// The process waits for the socket, and needs no timer for that.
  @Test func `pcscd is found when it starts`() async throws {
    let rig = try await CardReaderRig.scanning()
    let (id, placement) = try await rig.announces("https://example.com/1")
    await rig.pcscd.kill()
    #expect(try await rig.failed() == Self.ended)
    await rig.process.lookForDevice()
    #expect(try await rig.failed().hasPrefix("pcscd does not run; start it: "))
    let child = await rig.process.processID
    try await rig.pcscd.restart()
    try await rig.expect(.scanning(true))
    try await rig.announcesNothing()
    #expect(await rig.process.processID == child)
    try await rig.takeAway(id, placement)
    #expect(!rig.seen.contains { $0.isCrash })
  }

  @Test func `a process without pcscd sleeps, and obeys`() async throws {
    let rig = try await CardReaderRig.asleep()
    await rig.pcscd.kill()
    unlink(rig.pcscd.socket)
    _ = try await rig.failed()
    await rig.process.lookForDevice()
    #expect(try await rig.failed().hasPrefix("pcscd does not run; start it: "))
    try await rig.isAsleep()
    await rig.setScanning(true)
    await rig.setScanning(false)
    try await rig.next("the end of scanning") { [epoch = rig.epoch] event in
      if case .phase(.failed, epoch) = event { true } else { nil }
    }
    try await rig.isAsleep()
  }

  @Test func `pcscd may end again and again`() async throws {
    let rig = try await CardReaderRig.scanning()
    for number in 1...4 {
      try await rig.announces("https://example.com/\(number)")
      await rig.pcscd.kill()
      _ = try await rig.failed()
      await rig.readers.removeAll(from: rig.slot)
      try await rig.restartPCSCD()
      try await rig.expect(.scanning(true))
    }
    try await rig.announcesNothing()
    #expect(rig.announced.count == 4)
    #expect(!rig.seen.contains { $0.isCrash })
  }

  /// pcscd is suspended, as by a driver that hangs. The process obeys, and does not end.
  @Test func `the process obeys while pcscd does not answer`() async throws {
    let rig = try await CardReaderRig.scanning()
    let child = await rig.process.processID
    await rig.pcscd.signal(SIGSTOP)
    try await rig.scan(false)
    try await rig.scan(true)
    await rig.beginSession(ReaderSessionOptions(number: 1))
    try await rig.expect(.sessionBegan(1))
    await rig.endSession(1)
    try await rig.expect(.scanning(true))
    await rig.pcscd.signal(SIGCONT)
    try await rig.announces("https://example.com/")
    #expect(await rig.process.processID == child)
  }
}
