import Foundation
import Names
import ReaderSimulator
import TagrouteClient
import TestRig
import Testing

/// The commands for tags with readers that pcscd drives.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardCommandTests {
  enum Kind: String, CaseIterable, Sendable {
    case type2 = "type-2"
    case type4 = "type-4a"
    case type5 = "type-5"

    var model: CardReaderModel { self == .type5 ? .acr1552U : .acr1252U }

    func tag(_ message: [UInt8]) throws -> SimulatedTag {
      switch self {
      case .type2: return try .type2(.ntag215, message: message, uid: .fixed([0x04, 1, 2, 3, 4, 5, 6]))
      case .type4:
        var options = Type4Options()
        options.containerIsWritable = true
        return try .type4(message: message, uid: .fixed([0x04, 1, 2, 3, 4, 5, 6]), options: options)
      case .type5: return try .type5(.slix2, message: message, uid: [0xE0, 0x04, 1, 2, 3, 4, 5, 6])
      }
    }

    var uid: String { self == .type5 ? "E004010203040506" : "04010203040506" }
  }

  /// A desktop that scans, with a tag on its reader that was announced.
  private func desk(_ kind: Kind, starter: String) async throws -> (CardDesktop, TagID) {
    let desk = try await CardDesktop([kind.model], starter: starter)
    _ = try await desk.desktop.startPolkit()
    try await desk.start()
    let card = try await desk.place(try kind.tag(Tag(1).message))
    #expect(try await desk.shown().body == Tag.text(1))
    return (desk, card)
  }

  private func run(_ desk: CardDesktop, _ arguments: [String]) async throws -> (
    status: ChildProcess.ExitStatus, output: String, log: [String]
  ) {
    let process = try await desk.desktop.installation.start("tagroute", arguments)
    let status = try await process.exit()
    return (status, await process.standardOutput(), await process.log())
  }

  private func object(_ desk: CardDesktop, _ arguments: [String]) async throws -> [String: Any] {
    let result = try await run(desk, arguments + ["--json"])
    #expect(result.status == .exited(0), "\(result.log)")
    return try #require(JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
  }

  private func record(_ report: [String: Any]) throws -> [String: Any] {
    try #require((report["records"] as? [[String: Any]])?.first)
  }

  @Test(arguments: Kind.allCases) func `a tag is read, written and locked`(kind: Kind) async throws {
    let (desk, card) = try await desk(kind, starter: "`a tag is read, written and locked`_\(kind)")
    let before = try await object(desk, ["read"])
    #expect(before["technology"] as? String == kind.rawValue && before["uid"] as? String == kind.uid)
    #expect(before["status"] as? String == "read-write")
    #expect(try record(before)["uri"] as? String == "https://" + Tag.text(1))

    let written = try await object(desk, ["write", "--smart-poster", "https://example.com/new", "--title", "New"])
    let after = try await object(desk, ["read"])
    #expect(try record(after)["uri"] as? String == "https://example.com/new")
    #expect(try record(after)["text"] as? String == "New")
    let bytes = try #require(after["message"] as? String)
    #expect(bytes.count == (written["written"] as? Int).map { 2 * $0 })
    let memory = try #require(await desk.readers.memory(of: card))
    #expect(memory.firstRange(of: Array("example.com/new".utf8)) != nil)

    let info = try await object(desk, ["info"])
    #expect(info["size"] as? Int == written["written"] as? Int)
    // A PC/SC reader tells neither.
    #expect(info["atqa"] is NSNull && info["sak"] is NSNull)
    switch kind {
    case .type2: #expect(info["chip"] as? String == "NTAG215")
    case .type4: #expect(info["historicalBytes"] as? String == "80")
    case .type5: #expect(info["blockCount"] as? Int == 80 && info["blockSize"] as? Int == 4)
    }

    #expect(try await run(desk, ["lock"]).status == .exited(Names.ExitCode.usage))
    #expect(try await object(desk, ["lock", "--yes"])["status"] as? String == "read-only")
    #expect(try await object(desk, ["info"])["status"] as? String == "read-only")
    let locked = await desk.readers.memory(of: card)
    #expect(try await run(desk, ["write", "--text", "a"]).status == .exited(Names.ExitCode.notAllowed))
    #expect(await desk.readers.memory(of: card) == locked)
    #expect(try record(try await object(desk, ["read"]))["uri"] as? String == "https://example.com/new")

    // The tag lay there in sessions, so it is no new tap.
    try await desk.scanning()
    try await desk.announces(2)
    #expect(await desk.server.all.count(where: \.isTap) == 2)
  }

  @Test(arguments: Kind.allCases) func `transceive needs --write for writing`(kind: Kind) async throws {
    let (desk, card) = try await desk(kind, starter: "`transceive needs --write for writing`_\(kind)")
    let (reading, answer, writing): (String, String, String) =
      switch kind {
      case .type2: ("3000", "0401028F0304", "A20A01020304")
      case .type4: ("00A4040007D276000085010100", "9000", "00D6000004DEADBEEF")
      case .type5: ("022000", "00E140", "02213C01020304")
      }
    let read = try await run(desk, ["transceive", reading])
    #expect(read.status == .exited(0), "\(read.log)")
    #expect(read.output.hasPrefix(answer), "\(read.output)")
    let before = try #require(await desk.readers.memory(of: card))
    #expect(try await run(desk, ["transceive", writing]).status == .exited(Names.ExitCode.notAllowed))
    #expect(await desk.readers.memory(of: card) == before)
    let written = try await run(desk, ["transceive", "--write", writing])
    #expect(written.status == .exited(0), "\(written.log)")
    // A Type 4 tag has no file selected, and refuses.
    let expected = [Kind.type2: "0A\n", .type5: "00\n"]
    if let expected = expected[kind] {
      #expect(written.output == expected)
      #expect(await desk.readers.memory(of: card) != before)
    }
  }

  /// Commands of this class are for the reader: they would write to any card, load keys, or configure the reader.
  @Test(arguments: ["FFD6000404DEADBEEF", "FF00405004", "FFCA000000", "FFC2000000", "FF82000006010203040506"])
  func `no command for the reader itself leaves the daemon`(command: String) async throws {
    let (desk, card) = try await desk(
      .type4, starter: "`no command for the reader itself leaves the daemon`_\(command)")
    let result = try await run(desk, ["transceive", "--write", command])
    #expect(result.status == .exited(Names.ExitCode.usage), "\(result.log)")
    let sent = await desk.readers.commands(to: card).filter { $0.first == 0xFF }
    // The reader process itself asks for the UID.
    #expect(sent.allSatisfy { [0xCA, 0xC2].contains($0[1]) }, "\(sent)")
  }

  @Test func `a tag that the reader cannot read fails with a clear error`() async throws {
    // This reader has no commands for ISO/IEC 15693.
    let desk = try await CardDesktop()
    _ = try await desk.desktop.startPolkit()
    try await desk.start()
    let program = try await desk.desktop.program()
    let error = await #expect(throws: (any Error).self) {
      let session = try await program.start(.init(technologies: ["type-5"]))
      try await session.activated()
    }
    #expect("\(String(describing: error))".contains("the reader cannot read type-5"), "\(String(describing: error))")
  }

  @Test func `a session reads a tag that is placed, and its removal is noticed`() async throws {
    let desk = try await CardDesktop([.acr1552U])
    _ = try await desk.desktop.startPolkit()
    try await desk.start()
    let open = try await desk.desktop.program().start(.init(access: .write))
    try await desk.desktop.within("the session") { try await open.activated() }
    for kind in Kind.allCases {
      let card = try await desk.place(try kind.tag(Tag(1).message))
      let tag = try await desk.desktop.within("a tag") { try await open.tag() }
      #expect(tag.technology == kind.rawValue)
      #expect(try await tag.readNDEF() == Tag(1).message)
      await desk.readers.remove(card)
      let isRemoved = try await desk.desktop.within("the removal") {
        while let event = await open.next() {
          if case .tagRemoved = event { return true }
          if case .ended = event { return false }
        }
        return false
      }
      #expect(isRemoved)
    }
    try await open.session.invalidate()
    try await desk.scanning()
    try await desk.announces(2)
  }
}
