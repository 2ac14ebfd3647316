import Bus
import Inbox
import Names
import Testing

@testable import Agent

struct TagReadingTests {
  @Test func `a reading has the daemon's values, and unknown keys are ignored`() throws {
    var values = tapValues(1, message: [1, 2, 3])
    values["mood"] = .string("fine")
    let reading = try TagReading(values, now: sampleTime)
    #expect(reading.id == tapID(1))
    #expect(reading.message == [1, 2, 3])
    #expect(reading.technology == "type-2")
    #expect(reading.uid == [4, 0, 0, 0, 0, 0, 1])
    #expect(reading.reader == "/org/tagroute/Tagroute1/readers/0")
    #expect(reading.time.microseconds == 1_795_000_000_000_000)
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
    let error = #expect(throws: BusError.self) { try TagReading(values, now: sampleTime) }
    #expect(error?.name == Names.Errors.invalidArgument)
    #expect(error?.message.hasPrefix(key) == true)
  }

  @Test func `an impossible time is replaced by the agent's time`() throws {
    var values = tapValues(1, message: [])
    values["time"] = .uint64(.max)
    #expect(try TagReading(values, now: sampleTime).time == sampleTime)
  }

  @Test func `a tag is identified by its UID, or by its content if the UID is random`() throws {
    func tag(_ uid: [UInt8], _ message: [UInt8]) throws -> TagIdentity {
      try TagReading(tapValues(1, message: message, uid: uid), now: sampleTime).tag
    }
    #expect(try tag([4, 1, 2, 3, 4, 5, 6], [1]) == tag([4, 1, 2, 3, 4, 5, 6], [2]))
    #expect(try tag([8, 1, 2, 3], [1]) == tag([8, 9, 9, 9], [1]))
    #expect(try tag([8, 1, 2, 3], [1]) != tag([8, 1, 2, 3], [2]))
    #expect(try tag([], [1]) == tag([], [1]))
    // Without contents, any two phones would be the same tag.
    #expect(try tag([8, 1, 2, 3], []) != tag([8, 9, 9, 9], []))
    let others = try (1...2).map { try TagReading(tapValues($0, message: [], uid: []), now: sampleTime).tag }
    #expect(others[0] != others[1])
    #expect(try tag([8, 1, 2, 3, 4, 5, 6], [1]) == tag([8, 1, 2, 3, 4, 5, 6], [2]))
  }
}
