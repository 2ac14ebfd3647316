import Bus
import Names
import ReaderSimulator
import TestKit
import Testing

@testable import CoreNFC
@testable import CoreNFCSystemTests

/// A complete Tagroute for Core NFC sessions of the test's own process. The simulated reader is part of that process
/// too. So a test can place every kind of card, take it away during a call, and compare its memory.
struct CoreNFCDesktop: SessionDesktop {
  let desktop: Desktop
  let reader: SimulatedReader
  let polkit: PolkitStandIn
  let server: NotificationServerStandIn

  /// Starts everything, and waits until the daemon scans.
  ///
  /// `settings` are more lines of the group `[Reader]`. Everyone may do the polkit `actions`.
  init(
    reader settings: [String] = [],
    allowing actions: Set<String> = [Names.PolkitAction.readTags, Names.PolkitAction.writeTags],
    starter: String = #function
  ) async throws {
    desktop = try await Desktop(reader: settings, starter: starter)
    server = try await desktop.startServer()
    polkit = try await PolkitStandIn.start(on: desktop.systemBus, allowing: actions)
    reader = try await SimulatedReader.start(link: desktop.installation.directory.file("reader"))
    try await desktop.installation.startDaemon()
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
    try await desktop.scanning()
    let place = self
    atEndOfTest { await place.stop() }
  }

  /// Stops everything. The reader process ends with its daemon, and its field is off.
  private func stop() async {
    let processes = (try? await desktop.daemon.children()) ?? []
    await desktop.stop()
    #expect(processes.count == 1)
    #expect(processes.allSatisfy { $0.isGone })
    #expect(await !reader.isFieldOn)
    await reader.stop()
  }

  /// Waits until the daemon scans with one reader process, and requires that it announces the next tag.
  func scansAgain() async throws {
    await reader.clearFaults()
    await reader.removeAll()
    try await desktop.scanning()
    let daemon = try await desktop.daemon
    // After a reader was unplugged, the process of before may still be exiting. It has the lower id.
    for process in try daemon.children().sorted(by: { $0.identifier < $1.identifier }).dropLast() {
      try await desktop.within("the end of a reader process") { try await process.end() }
    }
    // The daemon does not announce tags from the first polls after a session.
    try await lookedAround()
    let tag = try Tag(900)
    await reader.place(try .type2(.ntag213, message: tag.message))
    // The sheets of sessions are notifications too.
    while try await desktop.notification(on: server).body != Tag.text(900) {}
  }

  /// Waits for about three polls for each kind of tag.
  func lookedAround() async throws {
    let target = await reader.counters.commands + 60
    try await reader.wait { $0.counters.commands >= target }
  }

  /// Delays the chip's next answers, so that a call to a tag takes seconds. The reader process waits 400 ms for an
  /// answer.
  func slowDown() async {
    for command in 1...200 { await reader.add(.delay(.milliseconds(100), command: command)) }
  }

  /// What `NFCReaderSession.readingAvailable` is on the bus of this desktop. It blocks the thread on which it is asked.
  func readingAvailable() async -> Bool {
    let bus = desktop.systemBus
    return await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: ReadingAvailability.ask(bus)) }
    }
  }

  // MARK: A connected tag

  /// Begins a tag session, places a card and connects to it.
  func connect(
    to card: SimulatedTag, _ configuration: NFCTagReaderSession.Configuration
  ) async throws -> ConnectedTag {
    let delegate = TagRecorder()
    let session = NFCTagReaderSession(configuration: configuration, delegate: delegate)
    try await activate(session, delegate)
    let placement = await reader.place(card)
    let found = try await tag(delegate)
    try await session.connect(to: found)
    return ConnectedTag(session: session, delegate: delegate, tag: found, placement: placement)
  }

  /// Ends the session of a tag, as the other `finish`.
  func finish(_ connected: ConnectedTag) async throws { try await finish(connected.session, connected.delegate) }

  func memory(of placement: TagID) async throws -> [UInt8] { try #require(await reader.memory(of: placement)) }
}

/// A desktop with Core NFC sessions of the test's own process.
protocol SessionDesktop {
  var desktop: Desktop { get }
}

extension SessionDesktop {
  func begin(_ session: NFCReaderSession) {
    session.bus = desktop.systemBus
    session.begin()
  }

  /// Begins a session, and waits until it has the reader.
  func activate(_ session: NFCReaderSession, _ delegate: Recorder) async throws {
    begin(session)
    #expect(try await next(delegate) == "active")
    #expect(session.isReady)
  }

  /// Ends a session as its program does. Requires that the end is its only other callback.
  func finish(_ session: NFCReaderSession, _ delegate: Recorder) async throws {
    session.invalidate()
    #expect(try await rest(delegate) == ["ended 200"])
    #expect(!session.isReady)
  }

  private func callback(_ delegate: Recorder) async throws -> Callback? {
    let delegate = OnQueue(delegate)
    return try await desktop.within("a callback") { OnQueue(await delegate.value.next()) }.value
  }

  /// The name of the next callback; nil after the end.
  func next(_ delegate: Recorder) async throws -> String? { try await callback(delegate)?.name }

  /// The names of all callbacks until the end.
  func rest(_ delegate: Recorder) async throws -> [String] {
    var names: [String] = []
    while let name = try await next(delegate) { names.append(name) }
    return names
  }

  func next(_ answers: Answers) async throws -> String? {
    try await desktop.within("an answer") { await answers.next() }
  }

  /// The tags of the next callback with tags. Fails if the session ends first.
  func tags(_ delegate: TagRecorder) async throws -> [NFCTag] {
    while let callback = try await callback(delegate) {
      switch callback {
      case .tags(let tags): return tags
      case .ended: throw RigError("the session \(callback.name)")
      case .active, .messages, .ndefTags: break
      }
    }
    throw RigError("the session had ended before")
  }

  /// The only tag of the next callback with tags.
  func tag(_ delegate: TagRecorder) async throws -> NFCTag {
    let tags = try await self.tags(delegate)
    #expect(tags.count == 1)
    return try #require(tags.first)
  }

  /// The only tag of the next callback with NDEF tags. Fails if the session ends first.
  func tag(_ delegate: NDEFTagRecorder) async throws -> any NFCNDEFTag {
    while let callback = try await callback(delegate) {
      switch callback {
      case .ndefTags(let tags):
        #expect(tags.count == 1)
        return try #require(tags.first)
      case .ended: throw RigError("the session \(callback.name)")
      case .active, .messages, .tags: break
      }
    }
    throw RigError("the session had ended before")
  }

  func unavailable(_ tag: NFCTag) async throws { try await desktop.unavailable(tag.any) }
}

struct ConnectedTag {
  let session: NFCTagReaderSession
  let delegate: TagRecorder
  let tag: NFCTag
  /// The card on the simulated reader.
  let placement: TagID
}

extension Desktop {
  /// Waits until a tag of a Core NFC session is no longer available.
  func unavailable(_ tag: Any) async throws {
    let tag = OnQueue(try #require(tag as? DetectedTag))
    try await within("the removal of a tag") {
      for await _ in tag.value.run.removals where !tag.value.isAvailable { return }
    }
  }
}
