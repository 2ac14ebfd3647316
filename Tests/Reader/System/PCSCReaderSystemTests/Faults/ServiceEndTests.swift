import EventLoop
import Glibc
import Names
import TestKit
import Testing

@testable import Daemon
@testable import ReaderProtocol
@testable import ReaderSimulator

/// pcscd ends, or was never there. A confined process cannot connect again, so its successor does.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ServiceEndTests {
  /// What the process does when pcscd ends.
  enum Moment: CaseIterable {
    /// It may not scan.
    case idle
    case scanning
    /// A tag rests that was announced.
    case resting
    /// It is in a session without a tag.
    case session
    /// It is in a session with a tag.
    case engaged
    case lent

    var isInSession: Bool { self == .session || self == .engaged }
  }

  private static let ended = "pcscd has closed the connection: it has ended or was restarted"
  private static let link = "https://example.com/1"

  private static func tag() throws -> SimulatedTag { try .type4(message: try uri(link)) }

  /// A tag that lies there all the time is announced at most once. Placed again, it is announced.
  @Test(arguments: Moment.allCases, [false, true])
  func `the reader works again after pcscd has ended`(moment: Moment, isKilled: Bool) async throws {
    let rig = try await CardReaderRig.asleep()
    let child = await rig.process.processID
    if moment == .scanning || moment == .resting { try await rig.scan(true) }
    if moment == .lent {
      await rig.lend(true)
      try await rig.expect(.lent(true))
    }
    if moment.isInSession { try await rig.begin(TagSessionOptions(number: 1)) }
    var id: TagID?
    if moment == .resting { id = try await rig.announces(Self.link).id }
    if moment == .engaged { id = try await rig.finds(try Self.tag()).id }
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
      let card = try #require(await rig.remove(id))
      _ = try await rig.removal()
      try await rig.insert(card)
      #expect(try await rig.message().message == uri(Self.link))
    } else {
      try await rig.announces("https://example.com/next")
    }
    try await rig.announcesNothing()
    #expect(!rig.seen.contains { $0.isCrash })
  }

  // MARK: During a reading

  /// At each command of the reading in turn.
  @Test(arguments: 1...6, [false, true])
  func `a tag that was being read when pcscd ended is announced once`(command: Int, isKilled: Bool) async throws {
    let rig = try await CardReaderRig.scanning()
    await rig.add(.hold(command: command))
    let id = try await rig.insert(try Self.tag())
    try await rig.isHolding()
    await end(rig, isKilled: isKilled)
    #expect(try await rig.failed() == Self.ended)
    try await rig.restartPCSCD()
    let (message, placement) = try await rig.message()
    #expect(try message == uri(Self.link))
    try await rig.announcesNothing()
    #expect(rig.announced.count == 1)
    try await rig.takeAway(id, placement)
    #expect(!rig.seen.contains { $0.isCrash })
  }

  /// The tag may be what ends pcscd. It is tried by three processes, and then left alone.
  @Test func `a tag that ends pcscd at each reading is a problem, and the next one is read`() async throws {
    let rig = try await CardReaderRig.scanning()
    // Each process asks for the UID first. With the second command, the daemon knows the tag.
    for attempt in 1...ReaderLimits.interruptions { await rig.add(.hold(command: 2 * attempt)) }
    let id = try await rig.insert(try Self.tag())
    for attempt in 1...ReaderLimits.interruptions {
      try await rig.isHolding()
      await end(rig, isKilled: true)
      if attempt == ReaderLimits.interruptions {
        let problem = try #require(try await rig.tag().problem)
        #expect(problem.hasPrefix("the reader failed at each attempt to read the tag: "), "\(problem)")
      }
      #expect(try await rig.failed() == Self.ended)
      try await rig.restartPCSCD()
    }
    try await rig.expect(.scanning(true))
    try await rig.announcesNothing()
    #expect(rig.announced.count == 1)
    await rig.remove(id)
    _ = try await rig.removal()
    try await rig.announces("https://example.com/next")
  }

  /// Ends pcscd while an answer is held.
  private func end(_ rig: CardReaderRig, isKilled: Bool) async {
    if isKilled { await rig.pcscd.kill() } else { await rig.pcscd.stop() }
    await rig.readers.release(rig.slot)
  }

  // MARK: During an operation of a session

  enum Operation: CaseIterable {
    case read, write
    /// The process waits for the transaction of another program.
    case waiting
  }

  @Test(arguments: Operation.allCases)
  func `an operation ends when pcscd does, and its tag is not announced`(operation: Operation) async throws {
    let rig = try await CardReaderRig.inSession()
    let (id, tag) = try await rig.finds(try .type2(.ntag213, message: try uri(Self.link)))
    let client = try await rig.client()
    switch operation {
    case .read:
      await rig.add(.hold())
      await rig.ask(.read, tag)
      try await rig.isHolding()
    case .write:
      // Five commands read the tag. This is the second one that writes.
      await rig.add(.hold(command: 7))
      await rig.ask(.write(try uri("https://example.com/2"), verify: true), tag)
      try await rig.isHolding()
    case .waiting:
      // The process releases the card after a while.
      try await client.ask("connect shared \(rig.name)")
      try await client.ask("begin")
      await rig.ask(.read, tag)
      try await rig.next("a wait") { if case .waiting(let reason) = $0, !reason.isEmpty { true } else { nil } }
    }
    await rig.pcscd.kill()
    await rig.readers.release(rig.slot)
    #expect(try await rig.result().failure == .deviceLost)
    try await rig.restartPCSCD()
    try await rig.isReady()
    try await rig.scan(true)
    try await rig.announcesNothing()
    // Another session finds the card.
    try await rig.begin(TagSessionOptions(number: 2))
    _ = try await rig.sessionTag()
    await rig.endSession(2)
    try await rig.expect(.scanning(true))
    try await rig.announcesNothing()
    #expect(rig.announced.isEmpty)
    await rig.remove(id)
    _ = try await rig.removal()
    try await rig.announces("https://example.com/next")
  }

  // MARK: No pcscd

  /// The process waits for the socket, and needs no timer for that.
  @Test func `pcscd is found when it starts`() async throws {
    let rig = try await CardReaderRig.scanning()
    let (id, placement) = try await rig.announces(Self.link)
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

  /// pcscd is suspended, as by a driver that hangs.
  @Test func `the process obeys while pcscd does not answer`() async throws {
    let rig = try await CardReaderRig.scanning()
    let child = await rig.process.processID
    await rig.pcscd.signal(SIGSTOP)
    try await rig.scan(false)
    try await rig.scan(true)
    try await rig.begin(TagSessionOptions(number: 1))
    await rig.endSession(1)
    try await rig.expect(.scanning(true))
    await rig.pcscd.signal(SIGCONT)
    try await rig.announces("https://example.com/")
    #expect(await rig.process.processID == child)
  }
}

/// A socket in pcscd's place. It answers the first message of pcsc-lite's protocol, or does not.
private struct ServiceStandIn {
  enum Manner: Sendable, CaseIterable {
    /// A pcscd that crashes, or one before 2.0 that polkit does not let this program use.
    case closes
    /// A later pcscd that polkit does not let this program use: `SCARD_W_SECURITY_VIOLATION`.
    case forbids
    /// A pcscd of another version: `SCARD_E_SERVICE_STOPPED`.
    case isAnotherVersion
    /// A pcscd that is stopped, or hangs.
    case isSilent
  }

  let directory: TemporaryDirectory
  let socket: String
  /// The number of connections so far.
  let connections = Locked(0)
  private let listener: FileDescriptor

  init(_ manner: Manner) throws {
    directory = try TemporaryDirectory()
    socket = directory.file("pcscd.comm")
    let listener = try ListeningSocket.create(at: socket, mode: 0o666)
    self.listener = listener
    guard manner != .isSilent else { return }
    try DedicatedThread.start { [connections] in
      while true {
        let client = accept(listener.rawValue, nil, nil)
        guard client >= 0 else { return }
        connections.withLock { $0 += 1 }
        Self.answer(FileDescriptor(owning: client), manner)
      }
    }
  }

  /// A header of two 32-bit numbers (length, command), and for CMD_VERSION three: major, minor, result
  /// (winscard_msg.h). The answer is the body alone.
  private static func answer(_ client: FileDescriptor, _ manner: Manner) {
    var message = [UInt8](repeating: 0, count: 20)
    let length = recv(client.rawValue, &message, message.count, Int32(MSG_WAITALL))
    let result: UInt32 = manner == .forbids ? 0x8010_006A : 0x8010_001E
    guard manner != .closes, length == message.count else { return }
    message.replaceSubrange(16..<20, with: withUnsafeBytes(of: result) { Array($0) })
    try? client.write(Array(message[8...]))
  }

  /// A call of accept(2) ends, too.
  func stop() { _ = shutdown(listener.rawValue, Int32(SHUT_RDWR)) }
}

/// Services that do not let `tagroute-reader-pcsc` in. Its reason tells the user what to do.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct UnwillingServiceTests {
  private static let reasons: [(ServiceStandIn.Manner, String)] = [
    (.closes, "pcscd closes the connection: it ends at once, or polkit does not allow it; see journalctl -u pcscd"),
    (.forbids, "pcscd refuses the connection; allow the actions org.debian.pcsc-lite.access_pcsc and access_card"),
    (.isAnotherVersion, "pcscd and libpcsclite are of different versions; restart it:"),
    (.isSilent, "pcscd does not answer; restart it:"),
  ]

  @Test(arguments: reasons)
  private func `the reader says what to do`(manner: ServiceStandIn.Manner, reason: String) async throws {
    let service = try ServiceStandIn(manner)
    let process = ReaderProcess(
      ReaderProcess.Configuration(
        program: try BuiltProducts.program(Names.Files.pcscReaderProgram),
        device: Names.PCSC.devicePrefix + "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00",
        environment: ["\(Names.PCSC.socketVariable)=\(service.socket)"]),
      on: EventLoop(label: "daemon"))
    atEndOfTest {
      await process.stop()
      service.stop()
      withExtendedLifetime(service.directory) {}
    }
    await process.start()
    for await event in process.events {
      guard case .phase(.failed(let said), _) = event else { continue }
      #expect(said.hasPrefix(reason), "\(said)")
      // pcscd logs each attempt that polkit refuses. The next one comes after a minute.
      let connections = service.connections.withLock { $0 }
      if manner == .closes || manner == .forbids { #expect(connections == 3) }
      return
    }
    Issue.record("the reader did not fail")
  }
}
