import Bus
import Inbox
import Names
import Routing
import Testing

import NDEF

@testable import Agent

struct TagReadTests {
  @Test func `a reading has the daemon's values, and unknown keys are ignored`() throws {
    var values = tapValues(1, message: [1, 2, 3])
    values["mood"] = .string("fine")
    let read = try TagRead(values, now: sampleMicroseconds)
    #expect(read.id == tapID(1))
    #expect(read.bytes == [1, 2, 3])
    #expect(read.technology == "type-2")
    #expect(read.uid == [4, 0, 0, 0, 0, 0, 1])
    #expect(read.reader == "/org/tagroute/Tagroute1/readers/0")
    #expect(read.time == 1_795_000_000_000_000)
  }

  @Test(
    arguments: [
      ("id", Value.string("x")), ("id", .uint32(1)), ("id", .string("")),
      ("id", .string("01234567-89ab-4cde-8f01-00000000000g")), ("id", .string("0123456789ab-4cde-8f01-0000000000001x")),
      ("message", .string("x")), ("message", .bytes([UInt8](repeating: 0, count: (1 << 20) + 1))),
      ("technology", .string(String(repeating: "x", count: 33))), ("uid", .bytes([UInt8](repeating: 1, count: 11))),
      ("reader", .string(String(repeating: "x", count: 256))),
    ] as [(String, Value)])
  func `an invalid reading is rejected with the name of the key`(key: String, value: Value) {
    var values = tapValues(1, message: [])
    values[key] = value
    let error = #expect(throws: BusError.self) { try TagRead(values, now: sampleMicroseconds) }
    #expect(error?.name == Names.Errors.invalidArgument)
    #expect(error?.message.hasPrefix(key) == true)
  }

  @Test func `an impossible time is replaced by the agent's time`() throws {
    var values = tapValues(1, message: [])
    values["time"] = .uint64(.max)
    #expect(try TagRead(values, now: sampleMicroseconds).time == sampleMicroseconds)
  }

  private func read(_ bytes: [UInt8], damage: String = "") -> TagRead {
    TagRead(
      id: tapID(1), time: sampleMicroseconds, reader: "", technology: "type-2", uid: [], bytes: bytes, damage: damage)
  }

  @Test func `a tag is damaged if it has bytes that are no message, or the reader says so`() throws {
    #expect(read([0xD1, 1]).damage.hasPrefix("the message is not NDEF: at byte ") && !read([0xD1, 1]).isBare)
    #expect(read([0xD1, 1], damage: "it is cut off").damage == "it is cut off")
    #expect(read([], damage: "it is cut off").damage == "it is cut off" && !read([], damage: "it is cut off").isBare)
    #expect(read([]).isBare)
    let whole = read(try uriMessage("https://example.com"), damage: "it is cut off")
    #expect(whole.damage.isEmpty && whole.message == .uri("https://example.com"))
  }

  private func stored(_ bytes: [UInt8], _ state: TapState, _ reason: TapReason = .none) -> Tap {
    Tap(read(bytes), uri: nil, title: "", receiver: TapReceiver(), state: state, changed: sampleTime, reason: reason)
  }

  @Test func `the inbox tells that a tag is damaged, unless there is another reason for the state`() throws {
    func code(_ tap: Tap) -> String? { AgentAnswers.tap(tap, reason: nil)["state-reason-code"]?.asString }
    #expect(code(stored([0xD1, 1], .delivered)) == "damaged")
    let words = AgentAnswers.tap(stored([0xD1, 1], .delivered), reason: nil)["state-reason"]?.asString
    #expect(words?.hasPrefix("the message is not NDEF: at byte ") == true)
    #expect(code(stored([0xD1, 1], .dismissed, TapReason(.ignored))) == "ignored")
    #expect(code(stored([], .delivered)) == "")
    #expect(code(stored(try uriMessage("https://example.com"), .delivered)) == "")
  }

  @Test func `a tag is identified by its UID, or by its content if the UID is random`() throws {
    func tag(_ uid: [UInt8], _ message: [UInt8]) throws -> TagIdentity {
      try TagRead(tapValues(1, message: message, uid: uid), now: sampleMicroseconds).tag
    }
    #expect(try tag([4, 1, 2, 3, 4, 5, 6], [1]) == tag([4, 1, 2, 3, 4, 5, 6], [2]))
    #expect(try tag([8, 1, 2, 3], [1]) == tag([8, 9, 9, 9], [1]))
    #expect(try tag([8, 1, 2, 3], [1]) != tag([8, 1, 2, 3], [2]))
    #expect(try tag([], [1]) == tag([], [1]))
    // Without contents, any two phones would be the same tag.
    #expect(try tag([8, 1, 2, 3], []) != tag([8, 9, 9, 9], []))
    let others = try (1...2).map { try TagRead(tapValues($0, message: [], uid: []), now: sampleMicroseconds).tag }
    #expect(others[0] != others[1])
    #expect(try tag([8, 1, 2, 3, 4, 5, 6], [1]) == tag([8, 1, 2, 3, 4, 5, 6], [2]))
  }
}
