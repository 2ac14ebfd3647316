import Bus
import Names
import Testing

@testable import Daemon

/// The options that a client can set for a reader session.
@Suite struct ReaderSessionRequestTests {
  @Test(arguments: [
    ["message": Value.uint32(1)], ["message": .string("a\u{202E}b")],
    ["message": .string(String(repeating: "a", count: 257))], ["access": .string("own")],
    ["message": .string("a\r\nb")], ["message": .string("a\u{2028}b")],
    ["technologies": .strings(["paper"])], ["reader": .string("/")], ["first-read": .string("yes")],
    ["undeclared-cards": .uint32(1)], ["select-application": .string("no")], ["format": .string("yes")],
    ["application-identifiers": .array(element: "ay", [.bytes([0xA0, 0, 0, 0, 3])])],
    ["application-identifiers": .array(element: "ay", [.bytes([1, 2, 3, 4])])],
    ["system-codes": .array(element: "q", [.uint16(0xFFFF)])],
  ])
  func `wrong options are rejected`(_ options: [String: Value]) throws {
    #expect(throws: BusError.self) { try ReaderSessionRequest(options) }
  }

  /// Programs that are written for iOS declare what they know of.
  @Test func `what may not be declared is left out of a long list`() throws {
    let good = (0..<600).map { [0xF0, 1, 2, UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    let identifiers = [[0xA0, 0, 0, 0, 3], [1, 2, 3, 4]] + good
    let codes = [0xFE00, 0x12FF] + (1...70).map { UInt16($0) }
    let request = try ReaderSessionRequest([
      "application-identifiers": .array(element: "ay", identifiers.map(Value.bytes)),
      "system-codes": .array(element: "q", codes.map(Value.uint16)),
    ])
    #expect(request.applications == Array(good.prefix(512)))
    #expect(request.systemCodes == [0xFE00] + (1...63).map { UInt16($0) })
    #expect(
      request.leftOut
        == "application-identifiers: 2 of 602 (payment applications are never selected) and those after the first 512; "
        + "system-codes: 1 of 72 (a FeliCa system code with a byte FF means any system: give the exact codes) and those "
        + "after the first 64")
    #expect(try ReaderSessionRequest([:]).leftOut.isEmpty)
  }

  /// The daemon checks each entry on its event loop.
  @Test func `a list of too many entries is rejected`() throws {
    let most = ReaderSessionRequest.maximumEntries
    func codes(_ count: Int) -> [String: Value] {
      ["system-codes": .array(element: "q", [Value](repeating: .uint16(3), count: count))]
    }
    func identifiers(_ count: Int) -> [String: Value] {
      ["application-identifiers": .array(element: "ay", [Value](repeating: .bytes([0xF0, 1, 2, 3, 4]), count: count))]
    }
    for (key, list) in [("system-codes", codes), ("application-identifiers", identifiers)] {
      let error = #expect(throws: BusError.self) { try ReaderSessionRequest(list(most + 1)) }
      #expect(error?.name == Names.Errors.invalidArgument)
      #expect(error?.message == "\(key) has 4097 entries: at most 4096 are allowed")
      _ = try ReaderSessionRequest(list(most))
    }
    #expect(throws: BusError.self) { try ReaderSessionRequest(codes(1)).limited(by: codes(most + 1)) }
  }

  @Test func `only texts for the sheet may have several lines`() throws {
    #expect(try ReaderSessionRequest(["message": .string("a\n\nb\n")]).message == "a\n\nb\n")
    #expect(PlainText.problem("a\nb", "who", 1...128) != nil)
  }

  @Test func `a request is limited to a part of its tags`() throws {
    let applications: [[UInt8]] = [[0xF0, 1, 2, 3, 4], [0xF0, 1, 2, 3, 5]]
    let request = try ReaderSessionRequest([
      "technologies": .strings(["type-2", "type-3"]), "message": .string("a"),
      "system-codes": .array(element: "q", [.uint16(3), .uint16(0x12FC)]),
      "application-identifiers": .array(element: "ay", applications.map(Value.bytes)),
    ])
    #expect(try request.limited(by: [:]) == request)
    #expect(try request.limited(by: ["technologies": .strings([]), "something-new": .uint32(1)]) == request)
    var limited = request
    limited.technologies = [.type3]
    limited.applications = applications.reversed()
    limited.systemCodes = [3]
    let options: [String: Value] = [
      "technologies": .strings(["type-3"]), "system-codes": .array(element: "q", [.uint16(3)]),
      "application-identifiers": .array(element: "ay", applications.reversed().map(Value.bytes)),
    ]
    #expect(try request.limited(by: options) == limited)
    for wrong in [
      ["technologies": .strings(["type-2", "type-4a"])], ["technologies": .string("type-2")],
      ["system-codes": .array(element: "q", [.uint16(4)])],
      ["application-identifiers": .array(element: "ay", [.bytes([0xF0, 1, 2, 3, 6])])],
    ] as [[String: Value]] {
      #expect { try request.limited(by: wrong) } throws: { ($0 as? BusError)?.name == Names.Errors.invalidArgument }
    }
    // A session without declared applications cannot begin to select some.
    let application = Value.array(element: "ay", [.bytes(applications[0])])
    #expect(throws: BusError.self) {
      try ReaderSessionRequest().limited(by: ["application-identifiers": application])
    }
  }

  @Test(arguments: ["type-5", "iso-15693"]) func `a session for ISO 15693 has one of two names`(name: String) throws {
    #expect(try ReaderSessionRequest(["technologies": .strings([name])]).technologies == [.type5])
    let error = BusError.cannotRead([.type5])
    #expect(error.name == Names.Errors.notPossible && error.message.contains("ISO/IEC 15693"))
  }
}
