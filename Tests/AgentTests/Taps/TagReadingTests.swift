import Bus
import Inbox
import Names
import Testing

@testable import Agent

struct TagReadingTests {
  @Test func `a reading is taken as the daemon gives it, unknown keys ignored`() throws {
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
  func `a reading that cannot be is refused with the key's name`(key: String, value: Value) {
    var values = tapValues(1, message: [])
    values[key] = value
    let error = #expect(throws: BusError.self) { try TagReading(values, now: sampleTime) }
    #expect(error?.name == Names.Errors.invalidArgument)
    #expect(error?.message.hasPrefix(key) == true)
  }

  @Test func `a time that cannot be is replaced by ours`() throws {
    var values = tapValues(1, message: [])
    values["time"] = .uint64(.max)
    #expect(try TagReading(values, now: sampleTime).time == sampleTime)
  }

  @Test func `a tag is known by its UID, and by what it holds where that is random`() throws {
    func tag(_ uid: [UInt8], _ message: [UInt8]) throws -> TagIdentity {
      try TagReading(tapValues(1, message: message, uid: uid), now: sampleTime).tag
    }
    #expect(try tag([4, 1, 2, 3, 4, 5, 6], [1]) == tag([4, 1, 2, 3, 4, 5, 6], [2]))
    #expect(try tag([8, 1, 2, 3], [1]) == tag([8, 9, 9, 9], [1]))
    #expect(try tag([8, 1, 2, 3], [1]) != tag([8, 1, 2, 3], [2]))
    #expect(try tag([], [1]) == tag([], [1]))
    #expect(try tag([8, 1, 2, 3, 4, 5, 6], [1]) == tag([8, 1, 2, 3, 4, 5, 6], [2]))
  }
}
