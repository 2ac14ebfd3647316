import EventLoop
import TestKit
import Testing

@testable import ReaderSimulator
@testable import ReaderSimulatorTests

/// Debian's tools check the simulated PN532, its tags and its cards.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RefereeTests {
  private static let idm: [UInt8] = [0x01, 0x2E, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]
  private static let pupi: [UInt8] = [0xCA, 0xFE, 0xBA, 0xBE]

  private static func message(_ size: Int) -> [UInt8] {
    [0xD1, 0x01, UInt8(truncatingIfNeeded: size - 4), UInt8(ascii: "T")] + (4..<size).map { UInt8($0 % 251) }
  }

  private func environment(_ reader: SimulatedReader) async -> [String: String] {
    var environment = ProcessEnvironment.current
    environment["LIBNFC_AUTO_SCAN"] = "false"
    environment["LIBNFC_DEVICE"] = await reader.connectionString
    return environment
  }

  private func run(_ program: String, _ arguments: [String], on reader: SimulatedReader) async throws -> String {
    let result = try await ChildProcess.run("/usr/bin/\(program)", arguments, environment: await environment(reader))
    try #require(result.status == .exited(0), "\(result.log)")
    return result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  @Test func `nfc-list opens a reader without a tag`() async throws {
    let reader = try await SimulatedReader.start()
    #expect(try await run("nfc-list", [], on: reader).hasSuffix("opened"))
    #expect(await !reader.isFieldOn)
    await reader.stop()
  }

  /// A tag, and parts of what nfc-list prints about it.
  enum Listed: CaseIterable {
    case type2, type4, type4B, liteS, standard, standardWithSeveralSystems

    var tag: SimulatedTag {
      get throws {
        switch self {
        case .type2: try ReaderSimulatorTests.type2()
        case .type4: try .type4(message: [], uid: .fixed(uid7))
        case .type4B: try .type4B(message: [], pupi: .fixed(RefereeTests.pupi))
        case .liteS: try .type3(message: [], idm: RefereeTests.idm, options: Type3Options(.liteS))
        case .standard: try .type3(message: [], idm: RefereeTests.idm, options: Type3Options(.standard))
        case .standardWithSeveralSystems:
          try .type3(message: [], idm: RefereeTests.idm, options: Type3Options(.standardWithSeveralSystems))
        }
      }
    }

    var lines: [String] {
      switch self {
      case .type2:
        [
          "1 ISO14443A passive target(s) found:", "ATQA (SENS_RES): 00 44 * UID size: double",
          "UID (NFCID1): 04 11 22 33 44 55 66 SAK (SEL_RES): 00", "MIFARE Ultralight",
        ]
      case .type4:
        [
          "ATQA (SENS_RES): 03 44", "UID (NFCID1): 04 11 22 33 44 55 66 SAK (SEL_RES): 20", "ATS: 75 77 81 02 80",
        ]
      case .type4B: ["1 ISO14443B passive target(s) found:", "PUPI: ca fe ba be"]
      case .liteS, .standard, .standardWithSeveralSystems:
        [
          "1 Felica (212 kbps) passive target(s) found:", "1 Felica (424 kbps) passive target(s) found:",
          "ID (NFCID2): 01 2e 45 67 89 ab cd ef", "System Code (SC): ",
        ]
      }
    }
  }

  @Test(arguments: Listed.allCases) func `nfc-list lists a tag`(listed: Listed) async throws {
    let reader = try await SimulatedReader.start()
    await reader.place(try listed.tag)
    let output = try await run("nfc-list", ["-v"], on: reader)
    for line in listed.lines { #expect(output.contains(line), "\(output)") }
    await reader.stop()
  }

  /// nfc-poll checks with R(NAK), or with a poll, whether the tag is still present.
  @Test(arguments: [Listed.type4, .type4B])
  func `nfc-poll finds a tag and notices its removal`(listed: Listed) async throws {
    let reader = try await SimulatedReader.start()
    let id = await reader.place(try listed.tag)
    let process = try ChildProcess("/usr/bin/nfc-poll", environment: await environment(reader))
    try await reader.wait(until: { reader in
      reader.commands.contains { $0.command == [0x42, 0xB2] || $0.command.first == 0x60 && $0.answer?.first == 1 }
    })
    await reader.remove(id)
    #expect(try await process.exit() == .exited(0) || listed == .type4B)
    let bytes = listed == .type4 ? "04  11  22  33  44  55  66" : "ca  fe  ba  be"
    #expect(await process.standardOutput().contains(bytes))
    await reader.stop()
  }

  /// The models that nfc-mfultralight knows. The tool takes any tag that answers GET_VERSION, even with a refusal, for
  /// one of these models.
  @Test(arguments: [
    SimulatedType2Model.ultralight, .ultralightEV1, .ultralightEV1Large, .ntag210, .ntag212, .ntag213, .ntag215,
    .ntag216,
  ])
  func `a dump by nfc-mfultralight is the memory`(model: SimulatedType2Model) async throws {
    let directory = try TemporaryDirectory()
    let reader = try await SimulatedReader.start()
    let id = await reader.place(try type2(model, (0..<40).map { UInt8($0) }))
    _ = try await run("nfc-mfultralight", ["r", directory.file("dump.mfd")], on: reader)
    let dump = try readFile(directory.file("dump.mfd"))
    let memory = try #require(await reader.memory(of: id))
    try #require(dump.count >= 64)
    // Passwords read as zero.
    let readable = min(dump.count, model == .ultralight ? 64 : (model.pageCount - 2) * 4)
    #expect(dump.prefix(readable) == memory.prefix(readable))
    await reader.stop()
  }

  /// Messages that one Check reads. After each further Check the tool adds two bytes that the card did not send.
  @Test(arguments: [(1, 10), (4, 60), (12, 190)])
  func `nfc-read-forum-tag3 reads a Type 3 tag`(mostRead: Int, size: Int) async throws {
    let directory = try TemporaryDirectory()
    let reader = try await SimulatedReader.start()
    var options = Type3Options(mostRead == 4 ? .liteS : .standardWithSeveralSystems)
    options.maximumRead = mostRead
    await reader.place(try .type3(message: Self.message(size), idm: Self.idm, options: options))
    let output = try await run("nfc-read-forum-tag3", ["-o", directory.file("message")], on: reader)
    #expect(output.contains("Mapping version: 1.0"), "\(output)")
    #expect(output.contains("NDEF message length: \(size) bytes * Checksum: ok"), "\(output)")
    #expect(try readFile(directory.file("message")) == Self.message(size))
    await reader.stop()
  }
}
