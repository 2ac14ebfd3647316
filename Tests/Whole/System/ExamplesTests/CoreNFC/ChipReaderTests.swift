import ReaderSimulator
import TestKit
import Testing

/// `chip-reader` with the real daemon and a simulated chip.
@Suite(.timeLimit(.minutes(5))) struct ChipReaderTests {
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
    await rig.stop()
  }

  @Test func `a missing file ends the program with an error`() async throws {
    let rig = try await AppRig()
    await rig.reader.place(.fileCard(Self.application, files: [0x0101: [0x61, 0x00]]))
    let (status, log) = try await rig.run("chip-reader")
    #expect(status == .exited(1))
    #expect(log == ["application A0000002471001", "The chip refuses command A4: 6A82."])
    await rig.stop()
  }
}
