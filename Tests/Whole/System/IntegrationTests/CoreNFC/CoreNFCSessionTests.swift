import Glibc
import Names
import ReaderSimulator
import TestKit
import Testing

@testable import CoreNFC
@testable import CoreNFCSystemTests

/// How Core NFC sessions start, wait and end with the real daemon.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CoreNFCSessionTests {
  private static let configuration = NFCTagReaderSession.Configuration(pollingOption: .iso14443)
  private static let version = Data([0x60])

  private func session(_ delegate: TagRecorder) -> NFCTagReaderSession {
    NFCTagReaderSession(configuration: Self.configuration, delegate: delegate)
  }

  @Test func `a second session waits for the first one`() async throws {
    let place = try await CoreNFCDesktop()
    let daemon = try await place.desktop.daemon
    let (first, second) = (TagRecorder(), TagRecorder())
    let (active, waiting) = (session(first), session(second))
    try await place.activate(active, first)
    let seen = await daemon.log().count
    place.begin(waiting)
    try await daemon.line(containing: "waits for its reader", after: seen)
    #expect(active.isReady && !waiting.isReady)
    await place.reader.place(try .type2(.ntag213, message: Tag(1).message))
    #expect(try await place.tag(first).isAvailable)
    try await place.finish(active, first)
    // The tag is still on the reader, so the second session finds it.
    #expect(try await place.next(second) == "active")
    #expect(try await place.tag(second).isAvailable)
    try await place.finish(waiting, second)
    try await place.scansAgain()
  }

  @Test func `a session ends at its time limit`() async throws {
    let place = try await CoreNFCDesktop(reader: ["SessionLimit=1"])
    let (first, second) = (TagRecorder(), TagRecorder())
    let (active, waiting) = (session(first), session(second))
    place.begin(active)
    #expect(try await place.next(first) == "active")
    place.begin(waiting)
    #expect(try await place.rest(first) == ["ended 201"])
    #expect(try await place.rest(second) == ["active", "ended 201"])
    try await place.scansAgain()
  }

  /// The daemon ends during a write. The handler gets code 103 and not 100, because the session is over and the tag is
  /// still there.
  @Test(arguments: [SIGKILL, SIGTERM]) func `a restart of the daemon ends the session`(signal: Int32) async throws {
    let place = try await CoreNFCDesktop(starter: "`a restart of the daemon ends the session`_\(signal)")
    let daemon = try await place.desktop.daemon
    let connected = try await place.connect(to: .type2(.ntag213, message: []), Self.configuration)
    let tag = try #require(connected.tag.asMiFare)
    #expect(try await tag.sendMiFareCommand(commandPacket: Self.version).count == 8)
    await place.slowDown()
    let seen = await daemon.log().count
    let answers = Answers()
    tag.writeNDEF(.filled(100), completionHandler: answers.handler("write"))
    try await daemon.line(containing: "is to write tag", after: seen)
    try await place.desktop.replaceDaemon(signal) { await place.reader.clearFaults() }
    #expect(try await place.rest(connected.delegate) == ["ended 202"])
    // The handler was called before the end of the session.
    #expect(await answers.rest() == ["write 103"])
    #expect(!tag.isAvailable && !connected.session.isReady)
    #expect(await code { _ = try await tag.readNDEF() } == 103)

    try await place.desktop.scanning()
    let delegate = TagRecorder()
    let next = session(delegate)
    try await place.activate(next, delegate)
    let found = try await place.tag(delegate)
    try await next.connect(to: found)
    #expect(try await found.asMiFare?.sendMiFareCommand(commandPacket: Self.version).count == 8)
    try await place.finish(next, delegate)
    try await place.scansAgain()
  }

  @Test func `a lock ends the session, and none starts before the unlock`() async throws {
    let place = try await CoreNFCDesktop()
    let connected = try await place.connect(to: .type2(.ntag213, message: Tag(1).message), Self.configuration)
    _ = try await place.desktop.installation.output("session", "lock")
    #expect(try await place.rest(connected.delegate) == ["ended 202"])
    #expect(!connected.tag.isAvailable)
    let delegate = TagRecorder()
    let refused = session(delegate)
    place.begin(refused)
    #expect(try await place.rest(delegate) == ["ended 2"])
    #expect(await !place.readingAvailable())

    _ = try await place.desktop.installation.output("session", "unlock")
    try await place.scansAgain()
    try await place.desktop.within("a reader that can be used") {
      while await !place.readingAvailable() { try Task.checkCancellation() }
    }
  }

  @Test func `a program that may only read gets code 2 for writing`() async throws {
    let place = try await CoreNFCDesktop(allowing: [Names.PolkitAction.readTags])
    let connected = try await place.connect(to: .type2(.ntag213, message: Tag(1).message), Self.configuration)
    let tag = try #require(connected.tag.asMiFare)
    let before = try await place.memory(of: connected.placement)
    #expect(try await tag.readNDEF().link == "https://" + Tag.text(1))
    #expect(try await tag.sendMiFareCommand(commandPacket: Self.version).count == 8)
    #expect(await code { try await tag.writeNDEF(.filled(10)) } == 2)
    #expect(await code { try await tag.writeLock() } == 2)
    let write = Data([0xA2, 0x10, 0, 0, 0, 0])
    #expect(await code { _ = try await tag.sendMiFareCommand(commandPacket: write) } == 2)
    #expect(try await place.memory(of: connected.placement) == before)
    try await place.finish(connected)

    await place.polkit.allow([])
    let delegate = TagRecorder()
    let refused = session(delegate)
    place.begin(refused)
    #expect(try await place.rest(delegate) == ["ended 2"])
    try await place.scansAgain()
  }

  @Test func `the sheet shows alertMessage, and its button ends the session`() async throws {
    let place = try await CoreNFCDesktop()
    let delegate = TagRecorder()
    let cancelled = session(delegate)
    cancelled.alertMessage = "Put the ticket down."
    try await place.activate(cancelled, delegate)
    _ = try await notification(place, "Put the ticket down.")
    // The daemon refuses format characters and control characters.
    cancelled.alertMessage = "Now the \u{200D}next\u{7} one."
    let sheet = try await notification(place, "Now the next one.")
    try await place.server.click(sheet, action: "cancel")
    #expect(try await place.rest(delegate) == ["ended 200"])

    let other = TagRecorder()
    let failing = session(other)
    try await place.activate(failing, other)
    failing.invalidate(errorMessage: "The ticket has expired.")
    #expect(try await notification(place, "The ticket has expired.").summary == "✗ That did not work")
    #expect(try await place.rest(other) == ["ended 200"])
    try await place.scansAgain()
  }

  /// The next notification with this text.
  private func notification(
    _ place: CoreNFCDesktop, _ text: String
  ) async throws -> NotificationServerStandIn.Shown {
    while true {
      let shown = try await place.desktop.notification(on: place.server)
      if shown.body.contains(text) { return shown }
    }
  }
}

/// How a tag session looks for tags, with the real daemon, the real libnfc and a simulated chip.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CoreNFCPollingTests {
  private static let version = Data([0x60])
  private static let both = NFCTagReaderSession.Configuration(
    pollingOption: [.iso14443, .iso18092], feliCaSystemCodes: ["0003"])

  /// A session with an NTAG and a transit card on the reader.
  private struct TwoTags {
    let place: CoreNFCDesktop
    let delegate = TagRecorder()
    let session: NFCTagReaderSession

    init(starter: String = #function) async throws {
      place = try await CoreNFCDesktop(starter: starter)
      session = NFCTagReaderSession(configuration: CoreNFCPollingTests.both, delegate: delegate)
      await place.reader.place(try .type2(.ntag213, message: Tag(1).message))
      await place.reader.place(try .transitCard())
      try await place.activate(session, delegate)
    }

    func tags() async throws -> (any NFCMiFareTag, any NFCFeliCaTag) {
      let tags = try await place.tags(delegate)
      #expect(tags.count == 2)
      let ntag = try #require(tags.compactMap { $0.asMiFare }.first)
      return (ntag, try #require(tags.compactMap { $0.asFeliCa }.first))
    }
  }

  @Test func `tags that lie there together come in one callback, and the connected one gets commands`() async throws {
    let two = try await TwoTags()
    let (ntag, card) = try await two.tags()
    #expect(await code { _ = try await card.requestResponse() } == 104)
    #expect(two.session.connectedTag == nil)
    for _ in 1...2 {
      try await two.session.connect(to: .miFare(ntag))
      #expect(two.session.connectedTag?.asMiFare != nil)
      #expect(try await ntag.sendMiFareCommand(commandPacket: Self.version).count == 8)
      #expect(try await ntag.readNDEF().link == "https://" + Tag.text(1))
      #expect(await code { _ = try await card.requestResponse() } == 104)
      try await two.session.connect(to: .feliCa(card))
      #expect(two.session.connectedTag?.asFeliCa != nil)
      #expect(try await card.requestResponse() == 0)
      #expect(await code { _ = try await ntag.sendMiFareCommand(commandPacket: Self.version) } == 104)
    }
    try await two.place.finish(two.session, two.delegate)
    #expect(!ntag.isAvailable && !card.isAvailable && two.session.connectedTag == nil)
    #expect(await code { _ = try await card.requestResponse() } == 103)
    #expect(await code { try await two.session.connect(to: .feliCa(card)) } == 103)
    try await two.place.scansAgain()
  }
}
