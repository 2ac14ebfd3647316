import Glibc
import Names
import ReaderProtocol
import Rig
import Settings
import Testing

@testable import Daemon

@Suite struct BackendChoiceTests {
  private typealias Backend = DaemonConfiguration.Backend

  /// A device that both libraries can drive, one of pcscd's, one of libnfc's, and some that are no contactless readers.
  private static let both = Samples.acr122()
  private static let pcscOnly = PCSCSamples.acr1252()
  private static let libnfcOnly = Samples.usb(0x04CC, 0x2533)
  private static let others = [
    PCSCSamples.yubiKey, Samples.usb(0x046D, 0xC077), Samples.usb(0x076B, 0x3021, classes: [0x0B]),
    Device(path: "/sys/devices/tty", subsystem: "tty", node: "/dev/ttyUSB0"),
  ]

  private static func choices(_ devices: [Device], _ support: PCSCSupport) -> [[BackendChoice?]] {
    devices.map { device in Backend.allCases.map { BackendChoice(device, $0, support) } }
  }

  @Test func `the table of backends, if pcscd is installed`() {
    #expect(Backend.allCases == [.auto, .libnfc, .pcsc])
    let noDriver = BackendChoice.nobody(.noDriver(hasOthers: true))
    #expect(
      Self.choices([Self.both, Self.pcscOnly, Self.libnfcOnly], PCSCSamples.support) == [
        [.pcsc, .libnfc, .pcsc], [.pcsc, nil, .pcsc], [.libnfc, .libnfc, noDriver],
      ])
    for choices in Self.choices(Self.others, PCSCSamples.support) { #expect(choices == [nil, nil, nil]) }
  }

  @Test(arguments: [PCSCObstacle.noService, .noProgram])
  func `the table of backends, if pcscd cannot be used`(obstacle: PCSCObstacle) {
    let support = PCSCSupport(obstacle: obstacle, drivers: PCSCSamples.drivers)
    let nobody = BackendChoice.nobody(obstacle)
    #expect(
      Self.choices([Self.both, Self.pcscOnly, Self.libnfcOnly], support) == [
        [.libnfc, .libnfc, nobody], [nobody, nil, nobody], [.libnfc, .libnfc, nobody],
      ])
    for choices in Self.choices(Self.others, support) { #expect(choices == [nil, nil, nil]) }
  }

  @Test func `without a driver for it, a reader is libnfc's or nobody's`() {
    let nobody = BackendChoice.nobody(.noDriver(hasOthers: false))
    #expect(
      Self.choices([Self.both, Self.pcscOnly], PCSCSupport()) == [
        [.libnfc, .libnfc, nobody], [nobody, nil, nobody],
      ])
  }

  @Test func `a model that no table names is recognized by its name`() {
    func choice(_ product: String, _ classes: [UInt8], driver: String? = nil) -> BackendChoice? {
      var support = PCSCSamples.support
      support.drivers[.init(vendor: 0xFFF0, product: 1)] = driver
      return BackendChoice(Samples.usb(0xFFF0, 1, classes: classes, productName: product), .auto, support)
    }
    let nobody = BackendChoice.nobody(.noDriver(hasOthers: true))
    #expect(choice("Example NFC Reader", [0x0B]) == nobody)
    #expect(choice("", [0x0B], driver: "Example Contactless Reader") == .pcsc)
    // The driver knows better than the device.
    #expect(choice("Example NFC Reader", [0x0B], driver: "Example Smart Card Reader") == nil)
    #expect(choice("Example NFC Reader", [0xFF]) == nil)
    #expect(choice("Example Smart Card Reader", [0x0B]) == nil)
    // A security key with NFC is a keyboard, too.
    #expect(choice("Example NFC Key", [0x03, 0x0B]) == nil)
  }

  @Test func `only readers of pcscd need its list`() {
    func needsList(
      _ device: Device, _ backend: Backend = .auto, _ configured: [String] = [], hasUdev: Bool = true,
      isElsewhere: Bool = false, obstacle: PCSCObstacle? = nil
    ) -> Bool {
      let support = PCSCSupport(obstacle: obstacle, drivers: PCSCSamples.drivers, isElsewhere: isElsewhere)
      return PCSCSamples.roster(
        device, configured: configured, backend: backend, support: support, hasUdev: hasUdev
      ).needsPCSCList
    }
    let mouse = Samples.usb(0x046D, 0xC077)
    #expect(needsList(Self.both) && needsList(Self.pcscOnly))
    #expect(!needsList(Self.libnfcOnly) && !needsList(mouse) && !needsList(PCSCSamples.yubiKey))
    #expect(needsList(mouse, hasUdev: false) && needsList(mouse, isElsewhere: true))
    #expect(!needsList(mouse, .pcsc) && !needsList(PCSCSamples.yubiKey, .pcsc) && needsList(Self.both, .pcsc))
    #expect(!needsList(Self.both, .libnfc) && !needsList(Self.both, .libnfc, isElsewhere: true))
    for obstacle in [PCSCObstacle.noService, .noProgram] {
      #expect(!needsList(Self.both, obstacle: obstacle))
      #expect(!needsList(mouse, .pcsc, hasUdev: false, obstacle: obstacle))
    }
    // Named readers: only to find the seat, and to tell two names apart.
    #expect(!needsList(Self.both, .auto, ["acr122_usb"]))
    #expect(needsList(mouse, .auto, ["pcsc:X"]) && !needsList(mouse, .auto, ["pcsc:X"], hasUdev: false))
    #expect(needsList(mouse, .auto, ["pcsc:X", "pcsc:X 00 00"], hasUdev: false))
  }
}

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

/// Which readers of pcscd's list are used, and for which tags. The tests of ReaderModels have the table of models.
@Suite struct ContactlessReadersTests {
  private static func usable(_ readers: PCSCReader...) -> [String] {
    readers.filter { ContactlessReaders.isUsable($0, among: readers) }.map(\.name)
  }

  @Test func `of a device with several slots only the one with the antenna is used`() {
    #expect(Self.usable(PCSCSamples.slots(at: 5)[0], PCSCSamples.slots(at: 5)[1]) == [PCSCSamples.picc])
    let omnikey = "HID Global OMNIKEY 5422 Smartcard Reader"
    let slots = ["[OMNIKEY 5422 Smartcard Reader] 00 00", "[OMNIKEY 5422CL Smartcard Reader] 01 00"].map {
      PCSCSamples.listed("\(omnikey) \($0)", at: 7, 0x076B, 0x5422)
    }
    #expect(Self.usable(slots[0], slots[1]) == [slots[1].name])
  }

  @Test func `a reader whose name says nothing is used if it is the only slot of a known model`() {
    let unnamed = PCSCSamples.listed("Example 00 00", at: 5)
    #expect(Self.usable(unnamed) == ["Example 00 00"])
    #expect(Self.usable(unnamed, PCSCSamples.slots(at: 5)[0]) == [PCSCSamples.picc])
    // The same model in another port is no slot of this device.
    #expect(Self.usable(unnamed, PCSCSamples.slots(at: 6)[0]).count == 2)
    #expect(Self.usable(PCSCSamples.listed("Example [SAM] 00 00", at: 5)) == [])
    #expect(Self.usable(PCSCReader(name: "Example 00 00")) == [])
    #expect(Self.usable(PCSCSamples.listed("Example 00 00", at: 5, 0xFFF0, 1)) == [])
  }

  @Test func `Type 5 needs a reader of pcscd that may have it`() {
    func canReadType5(_ device: String) -> Bool { ContactlessReaders.technologies(of: device).contains(.type5) }
    #expect(!canReadType5("pn532_uart:/dev/ttyUSB0") && !canReadType5("usb:001:005"))
    #expect(canReadType5("pcsc:ACS ACR1552 1S CL Reader PICC 00 00") && canReadType5("pcsc:Example NFC 00 00"))
    #expect(!canReadType5("pcsc:\(PCSCSamples.acr122)"))
    #expect(!canReadType5("pcsc:\(PCSCSamples.picc)") && canReadType5("pcsc:ACS ACR1552 CL Reader"))
    let libnfc = ContactlessReaders.technologies(of: "pn532_uart:/dev/ttyUSB0")
    #expect(libnfc == Samples.libnfcTechnologies)
  }

  @Test func `the numbers of a reader tell its model better than its name`() {
    let (acr1252, acr1552) = (
      PCSCReader.Identity(vendor: 0x072F, product: 0x223B),
      PCSCReader.Identity(
        vendor: 0x072F, product: 0x2303)
    )
    func canReadType5(_ name: String, _ identity: PCSCReader.Identity?) -> Bool {
      ContactlessReaders.technologies(of: "pcsc:\(name)", identity).contains(.type5)
    }
    #expect(!canReadType5("Example 00 00", acr1252) && canReadType5("Example 00 00", acr1552))
    #expect(canReadType5(PCSCSamples.acr122, acr1552))
    #expect(!canReadType5(PCSCSamples.acr122, PCSCReader.Identity(vendor: 1, product: 1)))
    #expect(canReadType5("Example 00 00", PCSCReader.Identity(vendor: 1, product: 1)))
  }

  @Test func `the roster has the numbers of pcscd's readers`() {
    var roster = PCSCSamples.roster(backend: .pcsc, hasUdev: false)
    #expect(roster.identity(ofDevice: "pcsc:Example") == nil)
    roster.pcscList.take([PCSCReader(name: "Other 00 00"), PCSCSamples.listed("Example 01 00", at: 5)])
    let identity = PCSCReader.Identity(vendor: 0x072F, product: 0x223B)
    #expect(roster.identity(ofDevice: "pcsc:Example 01 00") == identity)
    #expect(roster.identity(ofDevice: "pcsc:Example") == identity)
    #expect(roster.identity(ofDevice: "pcsc:Other 00 00") == nil && roster.identity(ofDevice: "usb:001:005") == nil)
  }
}
