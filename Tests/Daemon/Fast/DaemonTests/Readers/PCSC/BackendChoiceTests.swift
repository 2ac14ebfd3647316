import ReaderProtocol
import Settings
import Testing

@testable import Daemon

/// Which library drives which reader.
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
