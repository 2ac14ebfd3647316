import Testing

@testable import Daemon

@Suite struct TapTests {
  @Test func `ids are random UUIDs`() {
    #expect(DetectedTap.makeID((0, 0)) == "00000000-0000-4000-8000-000000000000")
    #expect(DetectedTap.makeID((.max, .max)) == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    #expect(
      DetectedTap.makeID((0x0123_4567_89AB_CDEF, 0x0123_4567_89AB_CDEF)) == "01234567-89ab-4def-8123-456789abcdef")
    #expect(Set((0..<100).map { _ in DetectedTap.makeID() }).count == 100)
  }

  @Test func `a summary contains no content`() {
    #expect(Samples.tap("x").summary == "tap x (type-2, message of 5 bytes)")
  }
}
