import Names
import ReaderModels
import ReaderProtocol
import Settings

/// Whether pcscd can be used, and which USB devices it can drive.
///
/// The daemon finds this out without a connection. A connection starts pcscd, which then takes every smart card reader
/// of the machine, also those that other programs use without it.
struct PCSCSupport: Hashable, Sendable {
  /// Nil if pcscd can be used.
  var obstacle: PCSCObstacle?
  /// The USB devices of the installed drivers, with pcscd's name for each.
  var drivers: [PCSCReader.Identity: String] = [:]
  /// Whether the environment names pcscd's socket. That pcscd may run elsewhere, and see other devices.
  var isElsewhere = false

  static let none = PCSCSupport(obstacle: .noService)

  func driverName(of usb: Device.USB) -> String? { drivers[PCSCReader.Identity(usb)] }
}

extension PCSCReader.Identity {
  init(_ usb: Device.USB) { self.init(vendor: usb.vendor, product: usb.product) }
}

/// Why a contactless reader that is plugged in cannot be used through pcscd, and a remedy.
enum PCSCObstacle: Hashable, Sendable {
  /// `tagroute-reader-pcsc` is not installed.
  case noProgram
  /// pcscd is not installed, or its socket is disabled.
  case noService
  /// No installed driver names the device. `hasOthers`: there are drivers for other devices.
  case noDriver(hasOthers: Bool)
  /// pcscd has a driver, and does not list the device. `module` is the kernel module that has the device, if one has.
  case notListed(module: String?)
  case problem(PCSCProblem)

  /// The obstacle and the remedy, a text that follows the reader's connection string. `title` names the model.
  func reason(for usb: Device.USB, title: String, hasSystemd: Bool) -> String {
    // A reader in a laptop cannot be plugged in again.
    let retry = "plug the reader in again" + (hasSystemd ? ", or run sudo systemctl reload tagrouted" : "")
    let rescan = "plug the reader in again" + (hasSystemd ? ", or run sudo systemctl restart pcscd" : "")
    return switch self {
    case .noProgram:
      "\(title) needs \(Names.Files.pcscReaderProgram), which is not installed: reinstall Tagroute, and restart tagrouted"
    case .noService:
      "\(title) needs pcscd: \(ReaderRemedy.installingPCSCD)"
        + (hasSystemd ? ", or \(ReaderRemedy.startingPCSCD) if it is switched off" : ", or start it")
        + "; then \(retry)"
    case .noDriver(hasOthers: false): "\(title) needs a driver for pcscd: \(ReaderRemedy.installingCCID); then \(retry)"
    case .noDriver(hasOthers: true): Self.newDriver(for: usb, title) + ", then \(retry)"
    case .notListed(let module?):
      "the kernel module \(module) has \(title): \(ReaderRemedy.unloading(module)), blacklist it in /etc/modprobe.d, "
        + "then \(rescan)"
    case .notListed(nil):
      "pcscd does not show \(title). If another program has it, such as GnuPG's scdaemon, write disable-ccid into that "
        + "user's ~/.gnupg/scdaemon.conf. Then \(rescan)"
    case .problem(let problem): Self.reason(problem, title, hasSystemd: hasSystemd)
    }
  }

  private static func newDriver(for usb: Device.USB, _ title: String) -> String {
    let name = "\(title) (\(text(usb)))"
    guard let version = ReaderModel.firstCCID(vendor: usb.vendor, product: usb.product) else {
      return "pcscd has no driver for \(name): update libccid, or install the maker's driver"
    }
    return "\(name) needs libccid \(version) or newer: update it"
  }

  private static func reason(_ problem: PCSCProblem, _ title: String, hasSystemd: Bool) -> String {
    let words = problem.text.isEmpty ? "" : " (\(problem.text))"
    return switch problem.kind {
    case .noService:
      "\(title) needs pcscd, which does not start\(words): "
        + (hasSystemd ? "systemctl status pcscd.socket pcscd shows why" : "start it")
    case .refused:
      "polkit does not let tagrouted use pcscd\(words): check that \(ReaderRemedy.pcscRule) is installed, and that no "
        + "rule before it says no"
    case .otherVersion:
      "pcscd and libpcsclite are of different versions\(words): update both, and restart pcscd"
    case .closed, .other: "pcscd does not show \(title)\(words)"
    }
  }

  /// As lsusb(8) shows it.
  private static func text(_ usb: Device.USB) -> String {
    [usb.vendor, usb.product].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }.joined(separator: ":")
  }
}

/// The USB devices that pcscd has drivers for, from the property lists of the drivers. pcscd reads the same lists
/// (hotplug_libudev.c, `HPReadBundleValues`).
enum PCSCDrivers {
  /// Per folder.
  private static let mostFiles = 64
  /// Of all drivers together.
  private static let mostDevices = ReaderDriver.mostModels

  /// The devices of the drivers in the folders `NAME.bundle`, with pcscd's name for each. A driver that cannot be read
  /// has none.
  static func devices(in folders: [String]) -> [PCSCReader.Identity: String] {
    var devices: [PCSCReader.Identity: String] = [:]
    for folder in folders {
      let bundles = FileContents.names(inDirectory: folder, atMost: mostFiles) ?? []
      for bundle in bundles.filter({ $0.hasSuffix(".bundle") }).sorted() {
        guard
          let list = try? FileContents.read("\(folder)/\(bundle)/Contents/Info.plist", upTo: ReaderDriver.longestFile)
        else {
          continue
        }
        for (identity, name) in parse(list) where devices.count < mostDevices { devices[identity] = name }
      }
    }
    return devices
  }

  /// A name that cannot be shown is empty.
  static func parse(_ list: [UInt8]) -> [PCSCReader.Identity: String] {
    let driver = ReaderDriver(bundle: "", propertyList: String(decoding: list, as: UTF8.self))
    let devices = driver.names.map { model, name in
      (PCSCReader.Identity(vendor: model.vendor, product: model.product), Names.PCSC.isReaderName(name) ? name : "")
    }
    return Dictionary(uniqueKeysWithValues: devices)
  }
}

/// Which of the readers that pcscd can drive have an antenna. The others belong to contact cards and security keys, and
/// Tagroute leaves them alone.
enum ContactlessReaders {
  /// The interface class of smart card readers (USB CCID 1.1, 4.3) and that of keyboards and security keys (HID 1.11, 4.1).
  private static let (smartCard, humanInterface): (UInt8, UInt8) = (0x0B, 0x03)
  /// Words for a slot without an antenna, in a name that has no other hint.
  private static let otherSlots: Set<String> = ["SAM", "ICC", "SIM", "CONTACT"]
  /// A title is a part of a reason.
  private static let mostBytesOfTitle = 60

  /// Whether a USB device is a contactless reader that pcscd drives, if it has a driver. `driverName` is the name that
  /// the driver has for the device; nil if no installed driver knows it.
  static func isReader(_ usb: Device.USB, driverName: String?) -> Bool {
    // A model that is newer than all tables is known by its interfaces and its name. A security key with NFC has a
    // keyboard's interface, too.
    let isSmartCardReader =
      usb.interfaceClasses.contains(smartCard) && !usb.interfaceClasses.contains(humanInterface)
    let name = driverName ?? (isSmartCardReader ? usb.productName : nil)
    return ReaderModel.isContactlessDevice(
      vendor: usb.vendor, product: usb.product, names: [name].compactMap(\.self))
  }

  /// Whether a device may be a reader, so that it is worth reading the tables of pcscd's drivers.
  static func mayBeReader(_ usb: Device.USB) -> Bool {
    usb.interfaceClasses.contains(smartCard) || ReaderModel.find(vendor: usb.vendor, product: usb.product) != nil
      || USBReaderModel.all.contains { $0.vendor == usb.vendor && $0.product == usb.product }
  }

  /// Whether a reader of pcscd's list reads contactless cards. `all` is the list: a device with several slots is in it
  /// several times.
  static func isUsable(_ reader: PCSCReader, among all: [PCSCReader]) -> Bool {
    if ReaderModel.isContactlessName(reader.name) { return true }
    // The name does not tell, but this is the only slot of a known model.
    guard let identity = reader.identity,
      ReaderModel.find(vendor: identity.vendor, product: identity.product)?.slots == .single
    else { return false }
    let words = reader.name.uppercased().split { !$0.isLetter }.map(String.init)
    return otherSlots.isDisjoint(with: words) && !all.contains { $0 != reader && isSameDevice($0, reader) }
  }

  static func title(of usb: Device.USB, driverName: String?) -> String {
    let model = ReaderModel.find(vendor: usb.vendor, product: usb.product)?.title
    let names = [model, driverName, usb.productName].compactMap(\.self)
    return names.first { (1...mostBytesOfTitle).contains($0.utf8.count) } ?? "this reader"
  }

  /// A reader of pcscd has the model of its numbers, else that of its name, as for its own process. If the model is not
  /// known, all technologies are tried.
  static func technologies(of device: String, _ identity: PCSCReader.Identity? = nil) -> [TagType] {
    // The chips that libnfc drives have no modulation for ISO/IEC 15693.
    guard let name = Names.PCSC.readerName(inDevice: device) else { return TagType.readable.filter { $0 != .type5 } }
    let model = identity.flatMap { ReaderModel.find(vendor: $0.vendor, product: $0.product) }
    return (model ?? ReaderModel.find(readerName: name))?.types ?? TagType.readable
  }

  private static func isSameDevice(_ a: PCSCReader, _ b: PCSCReader) -> Bool {
    if let place = a.place, b.place != nil { return place == b.place }
    return a.identity != nil && a.identity == b.identity
  }
}
