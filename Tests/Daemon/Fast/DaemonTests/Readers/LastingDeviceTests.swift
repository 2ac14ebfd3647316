import Testing

@testable import Daemon

@Suite struct LastingDeviceTests {
  @Test(arguments: [
    ([], []),
    (["pn53x_usb:001:004"], ["pn53x_usb"]),
    (["acr122_usb:001:004", "pn53x_usb:001:005"], ["acr122_usb", "pn53x_usb"]),
    (["pn53x_usb:001:004", "pn53x_usb:001:005"], ["pn53x_usb:001:004", "pn53x_usb:001:005"]),
    (["pn532_uart:/dev/ttyUSB0", "pn53x_usb:001:004"], ["pn532_uart:/dev/ttyUSB0", "pn53x_usb"]),
    (["pn532_spi:/dev/spidev0.0:500000"], ["pn532_spi:/dev/spidev0.0:500000"]),
  ])
  func `the only reader of a USB driver is named after the driver`(_ found: [String], _ names: [String]) {
    #expect(LastingDevice.names(of: found) == names)
  }
}
