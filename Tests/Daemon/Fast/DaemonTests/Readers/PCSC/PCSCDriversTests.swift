import Glibc
import ReaderProtocol
import Rig
import Testing

@testable import Daemon

/// The tables of pcscd's drivers.
@Suite struct PCSCDriversTests {
  private static func parse(_ text: String) -> [PCSCReader.Identity: String] { PCSCDrivers.parse(Array(text.utf8)) }

  private static func list(_ vendors: [String], _ products: [String], _ names: [String]) -> String {
    func array(_ key: String, _ values: [String]) -> String {
      "<key>\(key)</key>\n\t<array>\n\(values.map { "\t\t<string>\($0)</string>\n" }.joined())\t</array>\n"
    }
    return "<plist version=\"1.0\"><dict>\n<key>CFBundleExecutable</key><string>x</string>\n"
      + array("ifdVendorID", vendors) + array("ifdProductID", products) + array("ifdFriendlyName", names)
      + "</dict></plist>\n"
  }

  @Test func `three arrays name the devices`() {
    let names = ["ACS ACR122U", "A &amp; B &lt;1&gt;"]
    let devices = Self.parse(Self.list(["0x072F", "076b"], ["0x2200", "5022"], names))
    #expect(
      devices == [
        .init(vendor: 0x072F, product: 0x2200): "ACS ACR122U", .init(vendor: 0x076B, product: 0x5022): "A & B <1>",
      ])
  }

  @Test func `comments are skipped, and one string stands for an array`() {
    let text = """
      <!-- <key>ifdVendorID</key><string>0x1111</string> -->
      <key>ifdVendorID</key> <string>0x2222</string> <key>ifdProductID</key><string>0x1</string>
      <key>ifdFriendlyName</key><!-- the name --><string>One</string><string>Two</string>
      """
    #expect(Self.parse(text) == [.init(vendor: 0x2222, product: 1): "One"])
    #expect(Self.parse("<!-- " + Self.list(["1"], ["1"], ["A"])) == [:])
  }

  @Test(arguments: [
    "", "<", "<!--", "<key>ifdVendorID</key>", "<key>ifdVendorID</key><array>", list(["1"], ["1"], []),
    list(["1"], [], ["A"]), list(["x"], ["1"], ["A"]), list(["0x10000"], ["1"], ["A"]), list(["-1"], ["1"], ["A"]),
    "<key>ifdVendorID</key><array><string>1</array><key>ifdProductID</key><string>1",
  ])
  func `a list that names no device has none`(text: String) {
    #expect(Self.parse(text) == [:])
  }

  @Test func `arrays of different lengths are cut, and the first name of a device counts`() {
    let devices = Self.parse(Self.list(["1", "1", "2", "3"], ["1", "1", "2"], ["A", "B", "C", "D"]))
    #expect(devices == [.init(vendor: 1, product: 1): "A", .init(vendor: 2, product: 2): "C"])
  }

  @Test func `a name that cannot be shown is empty`() {
    let long = String(repeating: "a", count: 129)
    #expect(Set(Self.parse(Self.list(["1", "2"], ["1", "2"], ["a\u{1B}[0m", long])).values) == [""])
  }

  @Test func `the lists of all bundles count`() throws {
    let directory = try TemporaryDirectory()
    for (number, (folder, name)) in [("ifd-a.bundle", "A"), ("ifd-b.bundle", "B"), ("other", "C")].enumerated() {
      try directory.write(Self.list(["\(number)"], ["1"], [name]), to: "\(folder)/Contents/Info.plist")
    }
    // A link, as on Debian, and a list that is no file.
    mkdir(directory.file("ifd-c.bundle"), 0o700)
    #expect(symlink(directory.file("other/Contents"), directory.file("ifd-c.bundle/Contents")) == 0)
    mkdir(directory.file("ifd-d.bundle"), 0o700)
    mkdir(directory.file("ifd-d.bundle/Contents"), 0o700)
    #expect(mkfifo(directory.file("ifd-d.bundle/Contents/Info.plist"), 0o600) == 0)
    let devices = PCSCDrivers.devices(in: [directory.file("missing"), directory.path])
    #expect(Set(devices.values) == ["A", "B", "C"])
  }

  @Test(.enabled(if: access("/usr/lib/pcsc/drivers/ifd-ccid.bundle", F_OK) == 0, "libccid is not installed"))
  func `libccid's list names its readers`() {
    let devices = PCSCDrivers.devices(in: ["/usr/lib/pcsc/drivers"])
    #expect(devices.count > 400)
    #expect(devices[.init(vendor: 0x072F, product: 0x223B)] == "ACS ACR1252 Dual Reader")
  }
}
