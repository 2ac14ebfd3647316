import Bus
import EventLoop
import TagrouteClient
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReaderSessionTests {
  /// A bus with a stand-in for the daemon, and the connection of a client.
  private struct Place {
    let bus: PrivateBus
    let daemon: ReaderSessionStandIn
    let connection: Connection

    init(starter: String = #function) async throws {
      bus = try await PrivateBus.start(starter: starter)
      daemon = try await ReaderSessionStandIn(on: bus.address)
      connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "test"))
    }
  }

  @Test func `a session cannot start without a daemon`() async throws {
    let bus = try await PrivateBus.start()
    let error = await #expect(throws: BusError.self) { try await ReaderSession.start(to: BusAddress(bus.address)) }
    #expect(error?.name == BusError.Name.nameHasNoOwner)
  }

  @Test func `set options are sent, and unset options are omitted`() async throws {
    let place = try await Place()
    var requests = place.daemon.requests.makeAsyncIterator()
    var session = try await ReaderSession.start(on: place.connection)
    #expect(await requests.next() == .start(["access": .string("read")]))
    session = try await ReaderSession.start(
      ReaderSessionOptions(
        message: "hold it", reader: ReaderSessionStandIn.reader, access: .write, technologies: ["type-3"],
        applicationIdentifiers: [[1, 2, 3, 4, 5]], systemCodes: [3], endsAfterFirstRead: true,
        reportsUndeclaredCards: true, selectsApplication: false, formatsBlankTags: true), on: place.connection)
    while let request = await requests.next() {
      // The first session is released meanwhile, which sends another request.
      guard case .start(let options) = request else { continue }
      #expect(
        options == [
          "message": .string("hold it"), "reader": .objectPath(ReaderSessionStandIn.reader),
          "access": .string("write"), "technologies": .strings(["type-3"]),
          "application-identifiers": .array(element: "ay", [.bytes([1, 2, 3, 4, 5])]),
          "system-codes": .array(element: "q", [.uint16(3)]), "first-read": .boolean(true),
          "undeclared-cards": .boolean(true), "select-application": .boolean(false),
          "format": .boolean(true),
        ])
      break
    }
    withExtendedLifetime(session) {}
  }

  @Test func `the events of a session arrive in order`() async throws {
    let place = try await Place()
    var card = SessionCard(message: [0xD0, 0, 0])
    card.progress = [100, 200]
    try await place.daemon.place(card)
    // The session is activated and detects the tag before the reply.
    let session = try await ReaderSession.start(on: place.connection)
    var events = session.events.makeAsyncIterator()
    #expect(await events.next() == .activated)
    guard case .tagDetected(let tag)? = await events.next() else { throw RigError("no tag was detected") }
    #expect(tag.technology == "type-2" && tag.uid == card.uid && tag.atqa == [0, 0x44] && tag.sak == 0)
    #expect(tag.systemCode == nil && tag.idm.isEmpty && tag.selectedApplication.isEmpty)
    #expect(await events.next() == .roundEnded)
    #expect(try await tag.readNDEF() == [0xD0, 0, 0])
    #expect(await events.next() == .progress(bytes: 100, of: tag))
    #expect(await events.next() == .progress(bytes: 200, of: tag))
    #expect(try await session.state() == (.active, 60_000_000))
    try await session.restartPolling()
    #expect(await events.next() == .tagRemoved(tag))
    #expect(await events.next() == .pollingRestarted)
    guard case .tagDetected(let again)? = await events.next() else { throw RigError("no tag was detected") }
    #expect(again != tag)
    #expect(await events.next() == .roundEnded)
    try await place.daemon.remove()
    #expect(await events.next() == .tagRemoved(again))
    let error = await #expect(throws: BusError.self) { try await again.queryNDEF() }
    #expect(error.flatMap(TagFailure.init) == .tagLost)
    try await session.invalidate(errorMessage: "it was the wrong one")
    #expect(await events.next() == .ended(ReaderSessionEnd(.invalidated, message: "it was the wrong one")))
    #expect(await events.next() == nil)
    #expect(try await session.state().state == .ended)
    try await session.invalidate()
  }

  @Test func `a restart of polling is sent with its options`() async throws {
    let place = try await Place()
    let session = try await ReaderSession.start(on: place.connection)
    var requests = place.daemon.requests.makeAsyncIterator()
    _ = await requests.next()
    try await session.restartPolling()
    #expect(await requests.next() == .restartPolling([:]))
    try await session.restartPolling(
      technologies: ["type-3"], applicationIdentifiers: [[1, 2, 3, 4, 5]], systemCodes: [3])
    #expect(
      await requests.next()
        == .restartPolling([
          "technologies": .strings(["type-3"]), "system-codes": .array(element: "q", [.uint16(3)]),
          "application-identifiers": .array(element: "ay", [.bytes([1, 2, 3, 4, 5])]),
        ]))
    withExtendedLifetime(session) {}
  }

  @Test func `a waiting session is activated later`() async throws {
    let place = try await Place()
    await place.daemon.letThemWait()
    try await place.daemon.place(SessionCard())
    let session = try await ReaderSession.start(on: place.connection)
    #expect(try await session.state() == (.waiting, 0))
    var requests = place.daemon.requests.makeAsyncIterator()
    try await session.setMessage("wait")
    _ = await requests.next()
    #expect(await requests.next() == .setMessage("wait"))
    try await place.daemon.activate()
    var events = session.events.makeAsyncIterator()
    #expect(await events.next() == .activated)
    try await place.daemon.end("timed-out", "60 seconds are over")
    while let event = await events.next() {
      if case .ended(let end) = event { #expect(end == ReaderSessionEnd(.timedOut, message: "60 seconds are over")) }
    }
  }

  @Test func `a session can end after its first message`() async throws {
    let place = try await Place()
    try await place.daemon.place(SessionCard(message: [0xD0, 0, 0]))
    let session = try await ReaderSession.start(
      ReaderSessionOptions(endsAfterFirstRead: true), on: place.connection)
    var read: [[UInt8]] = []
    var end: ReaderSessionEnd?
    for await event in session.events {
      switch event {
      case .messageRead(let message, from: _): read.append(message)
      case .ended(let reason): end = reason
      default: break
      }
    }
    #expect(read == [[0xD0, 0, 0]])
    #expect(end?.reason == .firstRead)
  }

  @Test func `a tag operation succeeds or fails with its reason`() async throws {
    let place = try await Place()
    try await place.daemon.place(SessionCard())
    let reading = try await ReaderSession.start(on: place.connection)
    var tag = try await firstTag(reading)
    await expect(.noMessage) { () throws(BusError) in _ = try await tag.readNDEF() }
    await expect(.notAuthorized) { () throws(BusError) in try await tag.writeNDEF([0xD0, 0, 0]) }
    await expect(.notSupported) { () throws(BusError) in _ = try await tag.transceive([0x30, 4]) }

    let session = try await ReaderSession.start(ReaderSessionOptions(access: .write), on: place.connection)
    tag = try await firstTag(session)
    #expect(try await tag.queryNDEF() == (.readWrite, 137))
    try await tag.writeNDEF([0xD0, 0, 0])
    #expect(await place.daemon.placed?.message == [0xD0, 0, 0])
    try await tag.lock()
    #expect(try await tag.queryNDEF().status == .readOnly)
    await expect(.readOnly) { () throws(BusError) in try await tag.writeNDEF([0xD0, 0, 0]) }
    withExtendedLifetime((reading, session)) {}
  }

  @Test func `a command is sent with its timeout in milliseconds`() async throws {
    let place = try await Place()
    try await place.daemon.place(SessionCard.transit(blocks: []))
    let session = try await ReaderSession.start(on: place.connection)
    let tag = try await firstTag(session)
    #expect(tag.systemCode == 3 && tag.sak == nil)
    let command = [0x02] + tag.idm + [0x01, 0x0F, 0x09]
    #expect(try await tag.transceive(command, timeout: .milliseconds(250)).last == 0)
    var requests = place.daemon.requests.makeAsyncIterator()
    _ = await requests.next()
    #expect(await requests.next() == .operation("Transceive", [.bytes(command), .uint32(250)]))
  }

  @Test func `a session ends with the daemon`() async throws {
    let place = try await Place()
    try await place.daemon.place(SessionCard())
    let session = try await ReaderSession.start(on: place.connection)
    let tag = try await firstTag(session)
    await place.daemon.leave()
    #expect(await end(of: session)?.reason == .daemonGone)
    await #expect(throws: BusError.self) { try await tag.readNDEF() }
  }

  @Test func `the last signal of the daemon gives the reason for its end`() async throws {
    let place = try await Place()
    let session = try await ReaderSession.start(on: place.connection)
    try await place.daemon.end("daemon-stopping")
    await place.daemon.leave()
    #expect(await end(of: session)?.reason == .daemonStopping)
  }

  @Test func `a session ends with the bus`() async throws {
    let place = try await Place()
    let session = try await ReaderSession.start(on: place.connection)
    try await place.bus.stop()
    #expect(await end(of: session)?.reason == .daemonGone)
  }

  @Test func `an unknown end reason is treated as cancelled`() async throws {
    let place = try await Place()
    let session = try await ReaderSession.start(on: place.connection)
    try await place.daemon.end("the-moon", "is full")
    #expect(await end(of: session) == ReaderSessionEnd(.cancelled, message: "is full"))
  }

  @Test func `releasing a session ends it`() async throws {
    let place = try await Place()
    var session: ReaderSession? = try await ReaderSession.start(on: place.connection)
    #expect(session != nil)
    session = nil
    var requests = place.daemon.requests.makeAsyncIterator()
    _ = await requests.next()
    #expect(await requests.next() == .invalidate(""))
  }

  @Test func `a refused session fails with the error of the daemon`() async throws {
    let place = try await Place()
    await place.daemon.refuse(BusError(name: "org.tagroute.Error.TooMany", message: "32 sessions wait"))
    let error = await #expect(throws: BusError.self) { try await ReaderSession.start(on: place.connection) }
    #expect(error?.message == "32 sessions wait")
  }

  @Test func `a reader stays released while its inhibitor exists`() async throws {
    let place = try await Place()
    let client = try DaemonClient(place.connection)
    var requests = place.daemon.requests.makeAsyncIterator()
    var inhibitor: Inhibitor? = try await client.releaseReader(
      who: "a test", why: "because", reader: ReaderSessionStandIn.reader)
    #expect(inhibitor?.device == ReaderSessionStandIn.device)
    #expect(
      await requests.next()
        == .inhibit(
          who: "a test", why: "because",
          ["release-reader": .boolean(true), "reader": .objectPath(ReaderSessionStandIn.reader)]))
    inhibitor = nil
    #expect(await requests.next() == .released)
    inhibitor = try await client.inhibit(who: "a test", why: "because")
    #expect(inhibitor != nil && inhibitor?.device == nil)
  }

  // MARK: Steps

  private func firstTag(_ session: ReaderSession) async throws -> ReaderTag {
    for await event in session.events { if case .tagDetected(let tag) = event { return tag } }
    throw RigError("the session ended without a tag")
  }

  private func end(of session: ReaderSession) async -> ReaderSessionEnd? {
    for await event in session.events { if case .ended(let end) = event { return end } }
    return nil
  }

  private func expect(
    _ failure: TagFailure, _ location: SourceLocation = #_sourceLocation,
    _ body: () async throws(BusError) -> Void
  ) async {
    do throws(BusError) {
      try await body()
      Issue.record("the operation succeeded", sourceLocation: location)
    } catch {
      #expect(TagFailure(error) == failure, sourceLocation: location)
    }
  }
}
