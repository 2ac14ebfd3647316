import Glibc
import ReaderModels
import Rig
import Testing

@testable import Doctor

/// What an Info.plist says about a driver of pcscd, and which USB devices are contactless readers.
struct ReaderDriverTests {
  private static let list = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple Computer//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
      <key>CFBundleShortVersionString</key>
      <string>1.5.2</string>
      <!-- <key>ifdVendorID</key> <string>0x0001</string> a comment
        <string>0x0002</string> -->
      <key>ifdVendorID</key>
      <array>
        <string>0x072F</string>
        <string>0X076b</string>
        <string>nothing</string>
      </array>
      <key>ifdProductID</key>
      <array>
        <string>0x223B</string>
        <string>0x5422</string>
        <string>0x0003</string>
      </array>
      <key>ifdFriendlyName</key>
      <array>
        <string>ACS ACR1252 Dual Reader</string>
        <string>A &amp; B</string>
        <string>left out</string>
      </array>
    </dict>
    </plist>
    """

  @Test func `a property list names the models of a driver`() {
    let driver = ReaderDriver(bundle: "ifd-ccid.bundle", propertyList: Self.list)
    #expect(driver.nameAndVersion == "ccid 1.5.2")
    #expect(driver.name(vendor: 0x072F, product: 0x223B) == "ACS ACR1252 Dual Reader")
    #expect(driver.name(vendor: 0x076B, product: 0x5422) == "A & B")
    for (vendor, product) in [(0x072F, 0x5422), (1, 0x223B), (2, 0x223B), (0, 3)] as [(UInt16, UInt16)] {
      #expect(driver.name(vendor: vendor, product: product) == nil)
    }
  }

  @Test(arguments: ["", "<", "<key", "<key>", "<key>ifdVendorID</key><string>", "<!--", "<string>x</string>", "\0<>"])
  func `a broken property list names no models`(text: String) {
    let driver = ReaderDriver(bundle: "x", propertyList: text)
    #expect(driver.nameAndVersion == nil && driver.name(vendor: 0, product: 0) == nil)
  }

  @Test(arguments: [
    ("1.5.2", true), ("1.4.99", true), ("1.5", true), ("0.9.9", true), ("1.5.3", false), ("1.5.10", false),
    ("1.6", false), ("2.0.0", false), ("1", false), ("nightly", false), ("", false),
  ])
  func `versions are compared by their numbers`(version: String, isOlder: Bool) {
    let text = "<key>CFBundleShortVersionString</key><string>\(version)</string>"
    #expect(ReaderDriver(bundle: "x", propertyList: text).isOlder(than: "1.5.3") == isOlder)
  }

  @Test func `contactless readers are found among the USB devices`() throws {
    let directory = try TemporaryDirectory()
    func plug(_ name: String, _ id: (String, String), _ number: Int) throws {
      for (attribute, value) in [("idVendor", id.0), ("idProduct", id.1), ("busnum", "1"), ("devnum", "\(number)")] {
        _ = try directory.write("\(value)\n", to: "sys/bus/usb/devices/\(name)/\(attribute)")
      }
    }
    try plug("usb1", ("1d6b", "0002"), 1)
    try plug("1-1", ("072f", "223b"), 4)
    try plug("1-2", ("1050", "0407"), 5)
    try plug("1-3", ("ffff", "0001"), 6)
    try plug("1-4", ("072f", "zzzz"), 7)
    _ = try directory.write("", to: "sys/bus/usb/devices/1-1:1.0/bInterfaceClass")
    #expect(symlink("../../drivers/usbfs", directory.file("sys/bus/usb/devices/1-1:1.0/driver")) == 0)
    _ = try directory.write(
      """
      <key>ifdVendorID</key><string>0xFFFF</string><string>0x1050</string>
      <key>ifdProductID</key><string>0x0001</string><string>0x0407</string>
      <key>ifdFriendlyName</key><string>Nobody's NFC Reader</string><string>Yubico YubiKey OTP+FIDO+CCID</string>
      """, to: "drivers/own.bundle/Contents/Info.plist")
    let node = try directory.write("", to: "dev/bus/usb/001/004")
    // A program of this user that has opened the reader.
    _ = try directory.write("scdaemon\n", to: "proc/4711/comm")
    _ = try directory.write("", to: "proc/4711/fd/.keep")
    #expect(symlink(node, directory.file("proc/4711/fd/7")) == 0)

    let seen = ExaminedFiles([
      "TAGROUTE_SYS": directory.file("sys"), "TAGROUTE_DEV": directory.file("dev"),
      "TAGROUTE_PROC": directory.file("proc"), "TAGROUTE_RUN": directory.file("run"),
      "TAGROUTE_PCSC_DRIVERS": directory.file("drivers"),
    ]).pcsc()
    #expect(seen.readers.map(\.id) == ["072f:223b", "ffff:0001"])
    #expect(seen.readers.last?.title == "Nobody's NFC Reader")
    #expect(seen.readers.first?.interfaceDrivers == ["usbfs"])
    #expect(seen.readers.first?.node.path == node)
    #expect(seen.readers.first?.holder == .init(program: "scdaemon", process: 4711))
    #expect(!seen.hasSocket && seen.credentials == nil && !seen.hidesProcesses)
  }
}
