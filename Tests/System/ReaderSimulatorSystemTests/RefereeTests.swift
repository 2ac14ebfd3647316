import EventLoop
import TestRig
import Testing
@testable import ReaderSimulatorTests

@testable import ReaderSimulator

/// Debian's libnfc tools check the simulated PN532 and its tags.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RefereeTests {
  private func run(_ program: String, _ arguments: [String], on reader: SimulatedReader) async throws -> String {
    var environment = ProcessEnvironment.current
    environment["LIBNFC_AUTO_SCAN"] = "false"
    environment["LIBNFC_DEVICE"] = await reader.connectionString
    let result = try await ChildProcess.run("/usr/bin/\(program)", arguments, environment: environment)
    try #require(result.status == .exited(0), "\(result.log)")
    return result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  @Test func `nfc-list opens a reader without a tag`() async throws {
    let reader = try await SimulatedReader.start()
    #expect(try await run("nfc-list", [], on: reader).hasSuffix("opened"))
    #expect(await !reader.isFieldOn)
    await reader.stop()
  }

  @Test func `nfc-list lists a Type 2 tag`() async throws {
    let reader = try await SimulatedReader.start()
    await reader.place(try type2())
    let output = try await run("nfc-list", ["-v"], on: reader)
    #expect(output.contains("1 ISO14443A passive target(s) found:"))
    #expect(output.contains("ATQA (SENS_RES): 00 44 * UID size: double"))
    #expect(output.contains("UID (NFCID1): 04 11 22 33 44 55 66 SAK (SEL_RES): 00"))
    #expect(output.contains("MIFARE Ultralight"))
    await reader.stop()
  }

  @Test func `nfc-list lists a Type 4 tag`() async throws {
    let reader = try await SimulatedReader.start()
    await reader.place(try .type4(message: [], uid: .fixed(uid7)))
    let output = try await run("nfc-list", ["-v"], on: reader)
    #expect(output.contains("ATQA (SENS_RES): 03 44"))
    #expect(output.contains("UID (NFCID1): 04 11 22 33 44 55 66 SAK (SEL_RES): 20"))
    #expect(output.contains("ATS: 75 77 81 02 80"))
    await reader.stop()
  }

  @Test func `nfc-poll finds a tag and notices its removal`() async throws {
    let reader = try await SimulatedReader.start()
    let id = await reader.place(try .type4(message: [], uid: .fixed(uid7)))
    var environment = ProcessEnvironment.current
    environment["LIBNFC_AUTO_SCAN"] = "false"
    environment["LIBNFC_DEVICE"] = await reader.connectionString
    let process = try ChildProcess("/usr/bin/nfc-poll", environment: environment)
    // nfc-poll checks with R(NAK) whether the tag is still present.
    await reader.wait(until: { $0.commands.last?.command == [0x42, 0xB2] })
    await reader.remove(id)
    #expect(try await process.exit() == .exited(0))
    #expect(await process.standardOutput().contains("04  11  22  33  44  55  66"))
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

  @Test func `an image that nfc-mfultralight writes is in the memory`() async throws {
    let directory = try TemporaryDirectory()
    let reader = try await SimulatedReader.start()
    let id = await reader.place(try type2(.ultralight))
    _ = try await run("nfc-mfultralight", ["r", directory.file("dump.mfd")], on: reader)
    var image = try readFile(directory.file("dump.mfd"))
    try #require(image.count == 64)
    for index in 16..<64 { image[index] = UInt8(index) ^ 0xA5 }
    let file = try directory.write(image, to: "image.mfd")
    let output = try await run("nfc-mfultralight", ["w", file], on: reader)
    #expect(await reader.memory(of: id).map { Array($0[16..<64]) } == Array(image[16..<64]), "\(output)")
    await reader.stop()
  }

  @Test(arguments: [Type3Options.Model.liteS, .standard, .standardWithSeveralSystems])
  func `nfc-list lists a Type 3 tag at both bit rates`(model: Type3Options.Model) async throws {
    let reader = try await SimulatedReader.start()
    await reader.place(
      try .type3(message: [], idm: [0x01, 0x2E, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF], options: Type3Options(model)))
    let output = try await run("nfc-list", ["-v"], on: reader)
    // At both bit rates.
    #expect(output.contains("1 Felica (212 kbps) passive target(s) found:"), "\(output)")
    #expect(output.contains("1 Felica (424 kbps) passive target(s) found:"), "\(output)")
    #expect(output.contains("ID (NFCID2): 01 2e 45 67 89 ab cd ef"), "\(output)")
    await reader.stop()
  }
}
