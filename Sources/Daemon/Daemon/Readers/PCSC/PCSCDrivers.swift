import Names
import ReaderModels
import ReaderProtocol
import Settings

/// The USB devices that pcscd has drivers for, from the property lists of the drivers. pcscd reads the same lists
/// (hotplug_libudev.c, `HPReadBundleValues`).
enum PCSCDrivers {
  /// The limit of files in a folder.
  private static let mostFiles = 64
  /// The limit of devices of all drivers.
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

  /// The devices of one property list. A name that cannot be shown is empty.
  static func parse(_ list: [UInt8]) -> [PCSCReader.Identity: String] {
    let driver = ReaderDriver(bundle: "", propertyList: String(decoding: list, as: UTF8.self))
    let devices = driver.names.map { model, name in
      (PCSCReader.Identity(vendor: model.vendor, product: model.product), Names.PCSC.isReaderName(name) ? name : "")
    }
    return Dictionary(uniqueKeysWithValues: devices)
  }
}
