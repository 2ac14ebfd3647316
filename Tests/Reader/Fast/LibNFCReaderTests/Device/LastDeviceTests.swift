import Testing

@testable import LibNFCReader
@testable import ReaderKit

@Suite struct LastDeviceTests {
  private var last = LastDevice()
  private let first = "pn532_uart:/dev/ttyUSB0"
  private let second = "pn532_uart:/dev/ttyUSB1"

  @Test mutating func `a device that is opened again has its field off`() {
    #expect(last.open(first) == false)
    last.failed(fieldOf: first)
    #expect(last.leftOn == first)
    #expect(last.open(first) == false)
    #expect(last.leftOn == nil && last.known == first)
  }

  /// libnfc lists only devices that answer. If a device stops answering with its field on, libnfc may open another one.
  @Test mutating func `opening another device does not switch off the field of the first`() {
    #expect(last.open(first) == false)
    last.failed(fieldOf: first)
    #expect(last.open(second) == true)
    #expect(last.leftOn == first)
    // The second device is now the current one, no matter what happens to the first.
    #expect(last.open(second) == false)
    #expect(last.open(first) == true)
    #expect(last.leftOn == nil)
  }

  @Test mutating func `a device that was never open may have its field on`() {
    last.failed(fieldOf: first)
    #expect(last.known == first)
    #expect(last.open(first) == false)
    #expect(last.leftOn == nil)
  }

  @Test mutating func `an unplugged device has no field`() {
    _ = last.open(first)
    last.failed(fieldOf: first)
    last.areAway()
    #expect(last.leftOn == nil && last.known == nil)
    #expect(last.open(second) == false)
  }
}
