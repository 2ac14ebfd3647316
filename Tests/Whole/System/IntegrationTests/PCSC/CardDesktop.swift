import Names
import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

/// A complete Tagroute. Its readers are behind the real pcscd. The simulated readers are part of the test's own
/// process. So a test can count the commands to each card, and stop a reading at any of them.
struct CardDesktop: SessionDesktop {
  let desktop: Desktop
  let server: NotificationServerStandIn
  let readers: SimulatedCardReaders
  let pcscd: PrivatePCSCD
  /// The readers, in the order of pcscd's list.
  let attached: [AttachedCardReader]
  private let directory: TemporaryDirectory

  /// Starts pcscd, the buses, the app and a notification server, but no program of Tagroute.
  ///
  /// There is one reader of each model. `settings` are lines of the group `[Reader]`, and `log` is `TAGROUTE_LOG`.
  /// `environment` has more variables for every process.
  init(
    _ models: [CardReaderModel] = [.acr1252U], settings: [String] = ["Backend=pcsc"], log: String = "debug",
    environment: [String: String] = [:], starter: String = #function
  ) async throws {
    let directory = try TemporaryDirectory()
    self.directory = directory
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    self.readers = readers
    var attached: [AttachedCardReader] = []
    for model in models { attached.append(await readers.addReader(model)) }
    self.attached = attached
    let pcscd = try await readers.startPCSCD(in: directory.path)
    self.pcscd = pcscd
    // The programs of the desktop are stopped before this.
    atEndOfTest {
      await pcscd.kill()
      keepLog(pcscd.log(), of: "pcscd", starter: starter)
      await readers.stop()
      withExtendedLifetime(directory) {}
    }
    desktop = try await Desktop(
      .others, reader: settings, log: log,
      environment: environment.merging([Names.PCSC.socketVariable: pcscd.socket]) { given, _ in given },
      starter: starter)
    server = try await desktop.startServer()
  }

  /// Starts a desktop with all programs, and waits until each contactless reader scans.
  static func started(
    _ models: [CardReaderModel] = [.acr1252U], environment: [String: String] = [:], starter: String = #function
  ) async throws -> CardDesktop {
    let desk = try await CardDesktop(models, environment: environment, starter: starter)
    try await desk.start()
    return desk
  }

  /// Starts the daemon and the agent, and waits until each contactless reader scans.
  func start() async throws {
    try await startPrograms()
    try await scanning()
  }

  /// Starts the daemon and the agent, and waits until the agent is registered.
  func startPrograms() async throws {
    try await desktop.installation.startDaemon()
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
  }

  /// Waits until each contactless reader scans, and requires that the daemon has no other reader.
  func scanning() async throws {
    let devices = await devices.sorted()
    try await desktop.status { status in
      status.readers.map(\.device).sorted() == devices && status.readers.allSatisfy { $0.state == "scanning" }
    }
  }

  /// The daemon's device strings of the contactless readers.
  var devices: [String] {
    get async {
      var devices: [String] = []
      for reader in attached where reader.model.slots[0].kind == .contactless {
        devices.append(Names.PCSC.devicePrefix + (await readers.name(of: reader.slot)))
      }
      return devices
    }
  }

  var slot: CardSlotID { get throws { try slot(0) } }

  func slot(_ number: Int) throws -> CardSlotID {
    let contactless = attached.filter { $0.model.slots[0].kind == .contactless }
    try #require(contactless.indices.contains(number))
    return contactless[number].slot
  }

  func process(ofReader number: Int = 0) async throws -> ForeignProcess {
    let device = Names.PCSC.devicePrefix + (await readers.name(of: try slot(number)))
    return try #require(try await desktop.daemon.children().first { $0.commandLine.contains(device) })
  }

  /// The process that asks pcscd for its list.
  var watch: ForeignProcess {
    get async throws { try #require(try await desktop.daemon.children().first { $0.commandLine.contains("--list") }) }
  }

  // MARK: Tags

  /// Puts a tag on a contactless reader, in place of the previous one.
  @discardableResult
  func place(_ tag: SimulatedTag, on number: Int = 0) async throws -> TagID {
    let slot = try slot(number)
    await readers.removeAll(from: slot)
    return try await readers.insert(SimulatedCard(tag), into: slot)
  }

  /// Puts the NTAG215 with this number on a contactless reader, in place of the previous tag.
  @discardableResult
  func place(_ tag: Int, on number: Int = 0) async throws -> TagID {
    try await place(try Tag(tag).simulated, on: number)
  }

  /// Removes a card and waits until the daemon has noticed.
  func remove(_ card: TagID) async throws {
    let daemon = try await desktop.daemon
    let seen = await daemon.log().count
    await readers.remove(card)
    try await daemon.line(containing: Desktop.tagAway, after: seen)
  }

  /// The next notification of a tap.
  func shown() async throws -> NotificationServerStandIn.Shown {
    try await desktop.within("a notification of a tap") { [server] in try await server.nextTap() }
  }

  /// Puts the tag with this number on a reader. Its notification has to be the next one of a tap, so no other tap was
  /// announced meanwhile.
  @discardableResult
  func announces(
    _ tag: Int, on number: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> TagID {
    let card = try await place(tag, on: number)
    #expect(try await shown().body == Tag.text(tag), sourceLocation: sourceLocation)
    return card
  }

  /// Waits until the answer to a command is held (`CardFault.hold`).
  func awaitHold(in slot: CardSlotID) async throws {
    try await desktop.within("a held answer") { [readers] in try await readers.wait { $0.isHolding(slot) } }
  }

  /// How often the tag with this number was announced.
  func announcements(of tag: Int) async -> Int { await server.all.count { $0.body == Tag.text(tag) } }

  // MARK: Cards

  /// What pcscd has had a slot do for programs: commands to the card, and control codes for the reader. Giving a card
  /// power is pcscd's own decision.
  func requests(in slot: CardSlotID) async -> [CardExchange] {
    await readers.exchanges(in: slot).filter { $0.kind != .powerUp && $0.kind != .powerDown }
  }

  /// The environment of another program that uses pcscd.
  func environment(_ changes: [String: String] = [:]) -> [String: String] {
    [
      "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "HOME": directory.path,
      Names.PCSC.socketVariable: pcscd.socket,
    ].merging(changes) { _, changed in changed }
  }

  /// Writes a file into a directory of this test's own. Returns its absolute path.
  @discardableResult
  func write(_ text: String, to name: String, mode: UInt32 = 0o644) throws -> String {
    try directory.write(text, to: name, mode: mode)
  }

  func file(_ name: String) -> String { directory.file(name) }
}

extension Tag {
  var bytes: [UInt8] {
    stride(from: 0, to: uid.count, by: 2).compactMap { UInt8(uid.dropFirst($0).prefix(2), radix: 16) }
  }

  /// The same tag for readers of the test's own process.
  var simulated: SimulatedTag {
    get throws {
      let uid = try TagUID.fixed(bytes)
      return type == 4
        ? try .type4(message: message, uid: uid) : try .type2(.ntag215, message: message, uid: uid)
    }
  }
}
