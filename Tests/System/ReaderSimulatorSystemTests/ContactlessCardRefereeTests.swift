import EventLoop
import TestRig
import Testing
@testable import ReaderSimulatorTests

@testable import ReaderSimulator

/// Debian's tools check the simulated Type B, FeliCa and DESFire cards.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ContactlessCardRefereeTests {
  private static let idm: [UInt8] = [0x01, 0x2E, 1, 2, 3, 4, 5, 6]

  /// A message of `size` bytes.
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

  @Test func `nfc-list lists a Type B card`() async throws {
    let reader = try await SimulatedReader.start()
    await reader.place(try .type4B(message: [], pupi: .fixed([0xCA, 0xFE, 0xBA, 0xBE])))
    let output = try await run("nfc-list", ["-v"], on: reader)
    #expect(output.contains("1 ISO14443B passive target(s) found:"), "\(output)")
    #expect(output.contains("PUPI: ca fe ba be"), "\(output)")
    #expect(output.contains("0 ISO14443A passive target(s) found") || !output.contains("ISO/IEC 14443A"), "\(output)")
    await reader.stop()
  }

  @Test func `nfc-list lists a FeliCa card at both speeds`() async throws {
    let reader = try await SimulatedReader.start()
    await reader.place(try .type3(message: [], idm: Self.idm))
    let output = try await run("nfc-list", ["-v"], on: reader)
    #expect(output.contains("1 Felica (212 kbps) passive target(s) found:"), "\(output)")
    #expect(output.contains("1 Felica (424 kbps) passive target(s) found:"), "\(output)")
    #expect(output.contains("ID (NFCID2): 01 2e 01 02 03 04 05 06"), "\(output)")
    #expect(output.contains("System Code (SC): 88 b4"), "\(output)")
    await reader.stop()
  }

  @Test func `nfc-poll finds a Type B card`() async throws {
    let reader = try await SimulatedReader.start()
    let id = await reader.place(try .type4B(message: [], pupi: .fixed([0xCA, 0xFE, 0xBA, 0xBE])))
    let process = try ChildProcess("/usr/bin/nfc-poll", environment: await environment(reader))
    // nfc-poll checks repeatedly whether the card is still present.
    await reader.wait(until: { reader in
      reader.commands.contains { $0.command.first == 0x60 && $0.answer?.first == 1 }
    })
    await reader.remove(id)
    _ = try await process.exit()
    let output = await process.standardOutput()
    #expect(output.contains("ISO/IEC 14443-4B") && output.contains("ca  fe  ba  be"), "\(output)")
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

  @Test(arguments: [20, 200])
  func `mifare-desfire-read-ndef reads a DESFire by its native commands`(size: Int) async throws {
    let directory = try TemporaryDirectory()
    let reader = try await SimulatedReader.start()
    let options = Type4Options { ($0.fileSize, $0.leavesOnRequest) = (300, true) }
    await reader.place(try .desfire(message: Self.message(size), uid: .fixed(uid7), options: options))
    let output = try await run("mifare-desfire-read-ndef", ["-y", "-o", directory.file("message")], on: reader)
    #expect(output.contains("NDEF size: \(size) bytes"), "\(output)")
    #expect(try readFile(directory.file("message")) == Self.message(size))
    await reader.stop()
  }
}
