import Testing

@testable import Reader

@Suite struct LastDeviceTests {
  private let first = "pn532_uart:/dev/ttyUSB0"
  private let second = "pn532_uart:/dev/ttyUSB1"

  @Test func theSameDeviceOpenedAgainHasItsFieldOff() {
    var last = LastDevice()
    #expect(last.open(first) == false)
    last.failed(fieldOf: first)
    #expect(last.leftOn == first)
    #expect(last.open(first) == false)
    #expect(last.leftOn == nil && last.known == first)
  }

  /// libnfc lists who answers: one that has fallen silent with its field on is followed by another.
  @Test func anotherDeviceSaysNothingOfTheFieldOfTheFirst() {
    var last = LastDevice()
    #expect(last.open(first) == false)
    last.failed(fieldOf: first)
    #expect(last.open(second) == true)
    #expect(last.leftOn == first)
    // It is the same one now, whatever becomes of the first.
    #expect(last.open(second) == false)
    #expect(last.open(first) == true)
    #expect(last.leftOn == nil)
  }

  @Test func aDeviceThatWasNeverOpenMayHaveItsFieldOn() {
    var last = LastDevice()
    last.failed(fieldOf: first)
    #expect(last.known == first)
    #expect(last.open(first) == false)
    #expect(last.leftOn == nil)
  }

  @Test func whatIsAwayHasNoPower() {
    var last = LastDevice()
    _ = last.open(first)
    last.failed(fieldOf: first)
    last.areAway()
    #expect(last.leftOn == nil && last.known == nil)
    #expect(last.open(second) == false)
  }
}
