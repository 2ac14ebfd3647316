import Bus
import Names
import Testing

@testable import Daemon

/// The options that a client can set for a reader session.
@Suite struct ReaderSessionRequestTests {
  @Test(arguments: [
    ["message": Value.uint32(1)], ["message": .string("a\u{202E}b")],
    ["message": .string(String(repeating: "a", count: 257))], ["access": .string("own")],
    ["technologies": .strings(["paper"])], ["reader": .string("/")], ["first-read": .string("yes")],
    ["undeclared-cards": .uint32(1)], ["select-application": .string("no")],
    ["application-identifiers": .array(element: "ay", [.bytes([0xA0, 0, 0, 0, 3])])],
    ["application-identifiers": .array(element: "ay", [.bytes([1, 2, 3, 4])])],
    ["system-codes": .array(element: "q", [.uint16(0xFFFF)])],
  ])
  func `wrong options are rejected`(_ options: [String: Value]) throws {
    #expect(throws: BusError.self) { try ReaderSessionRequest(options) }
  }

  @Test func `a session for ISO 15693 is not possible`() {
    #expect {
      try ReaderSessionRequest(["technologies": .strings(["iso-15693"])])
    } throws: { error in
      guard let error = error as? BusError else { return false }
      return error.name == Names.Errors.notPossible && error.message.contains("ISO/IEC 15693")
    }
  }
}
