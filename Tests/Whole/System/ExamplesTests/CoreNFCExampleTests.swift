import Bus
import NDEF
import Names
import ReaderSimulator
import TestKit
import Testing

/// The daemon and the agent with a simulated reader, for a program that uses Core NFC. The simulated reader is part of
/// the test's own process, so the test can compare the memory of a tag.
struct AppRig {
  /// The place of the program's Info.plist.
  enum Place: Sendable, CaseIterable {
    case beside
    /// In `share`, for a program in `bin`.
    case installed
  }

  let reader: SimulatedReader
  private let installation: Installation

  private static let examples =
    repositoryRoot + "/Examples/core-nfc"

  /// Starts everything, and waits until the reader can be used. `starter` names the logs.
  init(starter: String = #function) async throws {
    var options = Installation.Options()
    options.daemonSettings = ["Reader": ["PollInterval=10"], "Scan": ["Sessions=any"]]
    installation = try await Installation(options, starter: starter)
    _ = try await PolkitStandIn.start(
      on: BusAddress(installation.systemBus.address),
      allowing: [Names.PolkitAction.readTags, Names.PolkitAction.writeTags])
    reader = try await SimulatedReader.start(link: installation.directory.file("reader"))
    atEndOfTest { [installation, reader] in
      await installation.stop()
      await reader.stop()
    }
    try await installation.startDaemon()
    try await installation.startAgent()
    let (daemon, agent) = (await installation.daemon, await installation.agent)
    try await #require(daemon).line(containing: "is ready")
    try await #require(agent).line(containing: "registered with the daemon")
  }

  /// Runs an example to its end, in its own folder. Returns how it ended, and all lines that it printed.
  func run(
    _ example: String, _ arguments: [String] = [], place: Place = .beside
  ) async throws -> (status: ChildProcess.ExitStatus, log: [String]) {
    let directory = installation.directory
    let (program, list) =
      switch place {
      case .beside: ("app/\(example)", "app/Info.plist")
      case .installed: ("usr/bin/\(example)", "usr/share/\(example)/Info.plist")
      }
    let path = try directory.write(try readFile(BuiltProducts.program(example)), to: program, mode: 0o755)
    try directory.write(try readFile("\(Self.examples)/\(example)/Info.plist"), to: list)
    let process = try await installation.start(path, arguments)
    let status = try await process.exit()
    return (status, await process.log())
  }

  func memory(of tag: TagID) async throws -> [UInt8] { try #require(await reader.memory(of: tag)) }
}

/// `ndef-reader` with the real daemon and a simulated tag.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct MessageReaderTests {
  @Test func `every record of a tag is printed`() async throws {
    let rig = try await AppRig()
    let records = [
      try TextRecord("Today's menu\u{1B}[31m", language: "en").record(),
      NDEFRecord(typeNameFormat: .mediaType, type: Array("image/png".utf8), payload: [1, 2, 3]),
      NDEFRecord(typeNameFormat: .external, type: Array("example.com:table".utf8), payload: [7]), .empty,
    ]
    let link = NDEFMessage.uri("https://example.com/menu")
    let message = try NDEFMessage(records: link.records + records).encoded()
    let tag = await rig.reader.place(try .type2(.ntag215, message: message))
    let before = try await rig.memory(of: tag)
    let (status, log) = try await rig.run("ndef-reader")
    #expect(status == .exited(0), "\(log)")
    #expect(
      log == [
        "record 1: link https://example.com/menu", "record 2: text (en) Today's menu.[31m",
        "record 3: media type image/png, 3 bytes", "record 4: external type example.com:table, 1 bytes",
        "record 5: another record, 0 bytes",
      ])
    #expect(try await rig.memory(of: tag) == before)
  }

  @Test func `without a daemon the program says that there is no reader`() async throws {
    let bus = try await PrivateBus.start(starter: #function)
    let process = try ChildProcess(
      BuiltProducts.program("ndef-reader"), environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "LANG": "C.UTF-8"],
      starter: #function)
    #expect(try await process.exit() == .exited(1))
    #expect(await process.log() == ["This machine has no reader that you can use."])
  }
}

/// `tag-writer` with the real daemon and a simulated tag.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TagWriterTests {
  /// What a tag has from page 4 on: an NDEF TLV with the message, and a terminator TLV.
  private static func area(_ message: [UInt8]) -> [UInt8] { [0x03, UInt8(message.count)] + message + [0xFE] }

  /// The arguments of a run, and the message that they lead to.
  private static let runs: [String: ([String], [UInt8])] = [
    "link": (["https://example.com/menu"], [0xD1, 0x01, 0x11, 0x55, 0x04] + Array("example.com/menu".utf8)),
    "text": (["--text", "Hello"], [0xD1, 0x01, 0x08, 0x54, 0x02] + Array("enHello".utf8)),
  ]

  @Test(arguments: ["link", "text"]) func `a message is written to a tag`(kind: String) async throws {
    let rig = try await AppRig(starter: "`a message is written to a tag`_\(kind)")
    let (arguments, message) = try #require(Self.runs[kind])
    let tag = await rig.reader.place(try .type2(.ntag215, message: []))
    let before = try await rig.memory(of: tag)
    let (status, log) = try await rig.run("tag-writer", arguments)
    #expect(status == .exited(0), "\(log)")
    #expect(log == ["Wrote \(message.count) bytes."])
    let after = try await rig.memory(of: tag)
    let area = Self.area(message)
    #expect(Array(after[16..<16 + area.count]) == area)
    #expect(after[..<16] == before[..<16])
  }

  @Test func `a message that is too long leaves the tag as it is`() async throws {
    let rig = try await AppRig()
    let tag = await rig.reader.place(try .type2(.ntag210Micro, message: []))
    let before = try await rig.memory(of: tag)
    let (status, log) = try await rig.run("tag-writer", ["--text", String(repeating: "a", count: 50)])
    #expect(status == .exited(1))
    #expect(log == ["The message has 57 bytes, and the tag holds only 46."])
    #expect(try await rig.memory(of: tag) == before)
  }

  @Test func `a program without an argument explains its use`() async throws {
    let (status, output, _) = try await ChildProcess.run(BuiltProducts.program("tag-writer"))
    #expect(status == .exited(64))
    #expect(output == "usage: tag-writer LINK, or tag-writer --text TEXT\n")
  }
}

/// `ultralight-writer` with the real daemon and a simulated tag.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct PageWriterTests {
  @Test func `one page is written, and all others stay as they are`() async throws {
    let rig = try await AppRig()
    let tag = await rig.reader.place(try .type2(.ultralightEV1, message: []))
    var expected = try await rig.memory(of: tag)
    let (status, log) = try await rig.run("ultralight-writer", ["6", "CAFE0123"])
    #expect(status == .exited(0), "\(log)")
    #expect(log == ["page 6: 00000000", "page 6: CAFE0123"])
    expected.replaceSubrange(24..<28, with: [0xCA, 0xFE, 0x01, 0x23])
    #expect(try await rig.memory(of: tag) == expected)
  }

  @Test func `a locked page is not written`() async throws {
    let rig = try await AppRig()
    // Bit 6 of the first lock byte locks page 6.
    var memory: [UInt8] = [0x04, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0x48, 0x40, 0x00, 0xE1, 0x10, 0x06, 0x00]
    memory += [0x03, 0x00, 0xFE, 0x00]
    let tag = await rig.reader.place(try .type2(.ultralightEV1, memory: memory))
    let before = try await rig.memory(of: tag)
    let (status, log) = try await rig.run("ultralight-writer", ["6", "CAFE0123"])
    #expect(status == .exited(1))
    #expect(log == ["page 6: 00000000", "The tag refuses the write."])
    #expect(try await rig.memory(of: tag) == before)
  }
}

/// `chip-reader` with the real daemon and a simulated chip.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ChipReaderTests {
  private static let application: [UInt8] = [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01]
  /// The specimen of ICAO Doc 9303, part 4.
  private static let zone = [
    "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<", "L898902C36UTO7408122F1204159ZE184226B<<<<<10",
  ]
  /// The version of the structure, the version of Unicode, and the list with the file 0101.
  private static let contents: [UInt8] =
    [0x60, 0x13, 0x5F, 0x01, 0x04] + Array("0107".utf8) + [0x5F, 0x36, 0x06] + Array("040000".utf8)
    + [0x5C, 0x01, 0x61]

  /// The chip, with SAK and answer to select of a card that is no MIFARE product.
  private static func chip(_ application: [UInt8]) -> SimulatedTag {
    var options = Type4Options()
    options.ats = [0x05, 0x78, 0x77, 0x81, 0x02]
    let data = [0x61, 0x5B, 0x5F, 0x1F, 0x58] + zone.flatMap(\.utf8)
    return .fileCard(application, files: [0x011E: contents, 0x0101: data], options: options)
  }

  @Test func `two files of a document are printed`() async throws {
    let rig = try await AppRig()
    let chip = await rig.reader.place(Self.chip(Self.application))
    let before = try await rig.memory(of: chip)
    let (status, log) = try await rig.run("chip-reader")
    #expect(status == .exited(0), "\(log)")
    #expect(
      log == ["application A0000002471001", "EF.COM 60135F0104303130375F36063034303030305C0161"] + Self.zone)
    #expect(try await rig.memory(of: chip) == before)
  }

  @Test func `a missing file ends the program with an error`() async throws {
    let rig = try await AppRig()
    await rig.reader.place(.fileCard(Self.application, files: [0x0101: [0x61, 0x00]]))
    let (status, log) = try await rig.run("chip-reader")
    #expect(status == .exited(1))
    #expect(log == ["application A0000002471001", "The chip refuses command A4: 6A82."])
  }
}

/// `transit-card` with the real daemon and a simulated card, which returns at most 12 blocks at once.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TransitCardReaderTests {
  @Test(arguments: AppRig.Place.allCases)
  func `twelve journeys are printed, wherever the Info.plist is`(place: AppRig.Place) async throws {
    let rig = try await AppRig(starter: "`twelve journeys are printed, wherever the Info.plist is`_\(place)")
    let card = await rig.reader.place(try .transitCard())
    let before = try await rig.memory(of: card)
    let (status, log) = try await rig.run("transit-card", place: place)
    #expect(status == .exited(0), "\(log)")
    #expect(log.count == 12)
    #expect(log.first == "2024-11-28  E30F → E310  ¥1000")
    #expect(log.last == "2024-11-17  E31A → E31B  ¥3310")
    #expect(try await rig.memory(of: card) == before)
  }

  @Test func `blocks without a date are left out`() async throws {
    let rig = try await AppRig()
    let history = SimulatedTag.transitHistory(2) + Array(repeating: [UInt8](repeating: 0, count: 16), count: 18)
    await rig.reader.place(try .transitCard(history: history))
    let (status, log) = try await rig.run("transit-card")
    #expect(status == .exited(0), "\(log)")
    #expect(log == ["2024-11-28  E30F → E310  ¥1000", "2024-11-27  E310 → E311  ¥1210"])
  }
}
