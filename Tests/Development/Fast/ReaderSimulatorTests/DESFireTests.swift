import Testing

@testable import ReaderSimulator

@Suite struct DESFireTests {
  @Test func `the cipher matches the examples of the standard`() {
    // NBS Special Publication 500-20, and a widely published example.
    #expect(DES(key: 0x1334_5779_9BBC_DFF1).encipher(0x0123_4567_89AB_CDEF) == 0x85E8_1354_0F0A_B405)
    #expect(DES(key: 0x0101_0101_0101_0101).encipher(0x8000_0000_0000_0000) == 0x95F8_A5E5_DD31_D900)
  }

  private func application(_ message: [UInt8]) throws -> DESFireApplication {
    DESFireApplication(try Type4Application(message: message, options: Type4Options()), uid: uid7)
  }

  @Test func `native and wrapped commands have the same answers`() throws {
    var card = try application([0xD0, 0x00, 0x00])
    #expect(card.respond(to: [0x60]).first == 0xAF)
    #expect(card.respond(to: [0xAF]).first == 0xAF)
    #expect(Array(card.respond(to: [0xAF]).prefix(8)) == [0x00] + uid7)
    #expect(card.respond(to: [0xAF]) == [0x1C])
    #expect(card.respond(to: [0x90, 0x60, 0x00, 0x00, 0x00]).suffix(2) == [0x91, 0xAF])
    card.expect([
      ([0x90, 0xF5, 0x00, 0x00, 0x01, 0x02, 0x00], [0x91, 0xF0]), ([0x5A, 0x02, 0x00, 0x00], [0xA0]),
      ([0x5A, 0x01, 0x00, 0x00], [0x00]),
    ])
    #expect(
      card.respond(to: [0x90, 0xF5, 0x00, 0x00, 0x01, 0x02, 0x00])
        == [0x00, 0x00, 0xEE, 0xEE, 0x00, 0x01, 0x00, 0x91, 0x00])
    card.expect([
      ([0xBD, 0x02, 0, 0, 0, 5, 0, 0], [0x00, 0x00, 0x03, 0xD0, 0x00, 0x00]),
      ([0xBD, 0x02, 0, 0, 0, 1, 1, 0], [0xBE]), ([0x90, 0x3D, 0x00, 0x00, 0x00], [0x91, 0x1C]),
    ])
    #expect(card.nativeCommands == 12)
  }

  @Test func `ISO commands reach the Type 4 tag`() throws {
    var card = try application([0xD0, 0x00, 0x00])
    #expect(
      card.respond(to: [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00]) == [0x90, 0x00])
    #expect(card.nativeCommands == 0)
  }

  @Test func `a wrong answer to the challenge does not authenticate`() throws {
    var card = try application([])
    #expect(card.respond(to: [0x0A, 0x01]) == [0x40])
    let challenge = card.respond(to: [0x0A, 0x00])
    #expect(challenge.first == 0xAF && challenge.count == 9)
    #expect(card.respond(to: [0xAF] + [UInt8](repeating: 0, count: 16)) == [0xAE])
  }
}
