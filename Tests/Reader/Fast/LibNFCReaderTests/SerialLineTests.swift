import Testing

@testable import LibNFCReader

@Suite struct SerialLineTests {
  @Test(arguments: [
    ("pn532_uart:/dev/ttyUSB0", "/dev/ttyUSB0", false),
    ("pn532_uart:/dev/serial/by-id/a", "/dev/serial/by-id/a", false),
    ("pn532_uart:/dev/ttyS0:115200", "/dev/ttyS0", true),
  ])
  func `only a device without a rate in its name may get another`(device: String, path: String, hasRate: Bool) throws {
    let parts = try #require(SerialLine.parts(of: device))
    #expect(parts.path == path && parts.hasRate == hasRate)
  }

  @Test(arguments: [
    "pn532_uart:/dev/ttyUSB0:9600", "pn532_uart:/dev/ttyUSB0:", "pn532_uart:/dev/ttyUSB0:115200:x", "pn532_uart",
    "pn532_uart:ttyUSB0", "arygon:/dev/ttyUSB0", "acr122s:/dev/ttyS0", "pn532_spi:/dev/spidev0.0", "pn53x_usb:001:002",
  ])
  func `other devices are left to libnfc`(device: String) { #expect(SerialLine.parts(of: device) == nil) }

  @Test func `a ttyACM and an rfcomm keep their rate`() {
    #expect([166, 216].allSatisfy { SerialLine.hasFixedRate($0 << 8 | 3) })
    // ttyUSB, ttyS, ttyAMA.
    #expect([188, 4, 204].allSatisfy { !SerialLine.hasFixedRate($0 << 8 | 0) })
  }
}
