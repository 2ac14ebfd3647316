import Bus
import Foundation
import Names
import TagrouteClient
import TestKit
import Testing

@testable import CommandLineTool

/// What `tagroute info` says about an ISO 15693 tag.
@Suite(.timeLimit(.minutes(5))) struct Type5InformationTests {
  private static func card(_ answer: @escaping @Sendable ([UInt8]) throws -> [UInt8]) -> SessionCard {
    var card = SessionCard(message: [0xD0, 0, 0])
    card.technology = "type-5"
    card.uid = [0xE0, 0x04, 0x01, 0x10, 1, 2, 3, 4]
    card.properties = [:]
    card.answer = answer
    return card
  }

  private static func unsupported() -> BusError {
    BusError(name: Names.Errors.notSupported, message: "this reader does not pass on this request")
  }

  /// The UID in the order of transmission.
  private static let uid: [UInt8] = [4, 3, 2, 1, 0x10, 0x01, 0x04, 0xE0]

  @Test func `info names chip and memory`() async throws {
    let place = try await Place(
      with: Self.card { command in
        guard command == [0x22, 0x2B] + Self.uid else { throw Self.unsupported() }
        return [0x00, 0x0F] + Self.uid + [0x00, 0x07, 0x1B, 0x03, 0x01]
      })
    #expect(
      try await place.run(["info"]).output == """
        technology: type-5, NFC Forum Type 5 (ISO/IEC 15693)
        manufacturer: NXP
        chip: ICODE SLIX
        UID: E004011001020304
        NDEF: read-write, 3 of 137 bytes used
        memory: 28 blocks of 4 bytes
        DSFID: 00
        AFI: 07
        IC reference: 01

        """)
    let json = try await place.object(["info"])
    #expect(json["manufacturer"] as? String == "NXP" && json["chip"] as? String == "ICODE SLIX")
    #expect(json["blockCount"] as? Int == 28 && json["blockSize"] as? Int == 4)
    #expect(json["afi"] as? String == "07" && json["dsfid"] as? String == "00")
    #expect(json["icReference"] as? String == "01" && json["atqa"] is NSNull && json["sak"] is NSNull)
  }

  @Test func `info asks again for the size of a large memory`() async throws {
    var card = Self.card { command in
      let uid: [UInt8] = [4, 3, 2, 1, 0x00, 0x26, 0x02, 0xE0]
      switch command {
      case [0x22, 0x2B] + uid: return [0x00, 0x0B] + uid + [0xFF, 0x00, 0x26]
      case [0x22, 0x3B, 0x04] + uid: return [0x00, 0x04] + uid + [0xFF, 0x07, 0x03]
      default: throw Self.unsupported()
      }
    }
    card.uid = [0xE0, 0x02, 0x26, 0x00, 1, 2, 3, 4]
    let place = try await Place(with: card)
    let large = try await place.object(["info"])
    #expect(large["chip"] as? String == "ST25DV64K" && large["blockCount"] as? Int == 2048)
    #expect(large["dsfid"] as? String == "FF")

    // A chip that refuses the command without the protocol extension flag.
    card.answer = { command in
      let uid: [UInt8] = [4, 3, 2, 1, 0x00, 0x2C, 0x02, 0xE0]
      switch command {
      case [0x22, 0x2B] + uid: return [0x01, 0x03]
      case [0x2A, 0x2B] + uid: return [0x00, 0x0F] + uid + [0xFF, 0x00, 0xFF, 0x07, 0x03, 0x2C]
      default: throw Self.unsupported()
      }
    }
    card.uid = [0xE0, 0x02, 0x2C, 0x00, 1, 2, 3, 4]
    try await place.daemon.place(card)
    let other = try await place.object(["info"])
    #expect(other["chip"] as? String == "M24LR64-R" && other["blockCount"] as? Int == 2048)
  }

  @Test func `info prints what the UID says if the reader cannot ask the tag`() async throws {
    let place = try await Place(with: Self.card { _ in throw Self.unsupported() })
    let json = try await place.object(["info"])
    #expect(json["chip"] as? String == "ICODE SLIX" && json["capacity"] as? Int == 137)
    #expect(json["blockCount"] is NSNull && json["afi"] is NSNull && json["icReference"] is NSNull)
  }

  @Test func `transceive inserts the UID in the order of transmission`() async throws {
    let place = try await Place(with: Self.card { [0x00] + $0.suffix(1) })
    let result = try await place.run(["transceive", "2220UID07"])
    #expect(result.output == "0007\n")
    let (_, requests) = try await place.session(of: 2)
    #expect(requests[1] == .operation("Transceive", [.bytes([0x22, 0x20] + Self.uid + [0x07]), .uint32(1000)]))
  }
}
