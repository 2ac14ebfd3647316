import KeyFile
import Names
import ReaderLink

/// The USB devices that pcscd has drivers for, from the property lists that the drivers bring along. pcscd reads the same
/// lists to find the driver of a device (hotplug_libudev.c, `HPReadBundleValues`).
enum PCSCDrivers {
  /// The limit of files in a folder.
  private static let mostFiles = 64
  /// The limit of bytes of a list: libccid's has 60 KB.
  private static let mostBytes = 1 << 20
  /// The limit of devices of all drivers: libccid has 560.
  static let mostDevices = 8192

  /// The devices of the drivers in the folders `NAME.bundle`, with pcscd's name for each. A driver that cannot be read
  /// has none.
  static func devices(in folders: [String]) -> [PCSCReader.Identity: String] {
    var devices: [PCSCReader.Identity: String] = [:]
    for folder in folders {
      let bundles = FileContents.names(inDirectory: folder, atMost: mostFiles) ?? []
      for bundle in bundles.filter({ $0.hasSuffix(".bundle") }).sorted() {
        guard let list = try? FileContents.read("\(folder)/\(bundle)/Contents/Info.plist", upTo: mostBytes) else {
          continue
        }
        for (identity, name) in parse(list) where devices.count < mostDevices { devices[identity] = name }
      }
    }
    return devices
  }

  /// The devices of one property list: three arrays of equal length, with the vendors, the products and the names.
  static func parse(_ list: [UInt8]) -> [PCSCReader.Identity: String] {
    let list = PropertyList(list)
    let vendors = list.strings("ifdVendorID").map(number)
    let products = list.strings("ifdProductID").map(number)
    let names = list.strings("ifdFriendlyName")
    var devices: [PCSCReader.Identity: String] = [:]
    for (ids, name) in zip(zip(vendors, products), names).prefix(mostDevices) {
      guard let vendor = ids.0, let product = ids.1 else { continue }
      let identity = PCSCReader.Identity(vendor: vendor, product: product)
      if devices[identity] == nil { devices[identity] = Names.PCSC.isReaderName(name) ? name : "" }
    }
    return devices
  }

  /// A number as pcscd reads it: hexadecimal digits, with or without `0x`.
  private static func number(_ text: String) -> UInt16? {
    UInt16(text.hasPrefix("0x") || text.hasPrefix("0X") ? String(text.dropFirst(2)) : text, radix: 16)
  }
}

/// The strings of a property list in XML. Only as much of the format as drivers of pcscd use: keys, strings and arrays.
private struct PropertyList {
  private let bytes: [UInt8]

  /// A list without its comments.
  init(_ bytes: [UInt8]) {
    var kept: [UInt8] = []
    kept.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let start = Self.index(of: "<!--", in: rest) {
      kept += rest[..<start]
      rest = Self.index(of: "-->", in: rest[start...]).map { rest[($0 + 3)...] } ?? []
    }
    self.bytes = kept + rest
  }

  /// The strings of a key's array, or its only string. Empty if there is no such key.
  func strings(_ key: String) -> [String] {
    let tag = "<key>\(key)</key>"
    guard let start = Self.index(of: tag, in: bytes[...]) else { return [] }
    var rest = bytes[(start + tag.utf8.count)...]
    rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    let isArray = rest.starts(with: "<array>".utf8)
    guard isArray || rest.starts(with: "<string>".utf8) else { return [] }
    if isArray { rest = rest[..<(Self.index(of: "</array>", in: rest) ?? rest.endIndex)] }
    var strings: [String] = []
    while strings.count < PCSCDrivers.mostDevices, let start = Self.index(of: "<string>", in: rest),
      let end = Self.index(of: "</string>", in: rest[start...])
    {
      strings.append(Self.text(rest[(start + "<string>".utf8.count)..<end]))
      rest = rest[(end + "</string>".utf8.count)...]
      if !isArray { break }
    }
    return strings
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.contains("&") else { return text }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
    return entities.reduce(text) { $0.replacing($1.0, with: $1.1) }
  }

  private static func index(of text: String, in bytes: ArraySlice<UInt8>) -> Int? {
    let wanted = Array(text.utf8)
    guard bytes.count >= wanted.count else { return nil }
    return (bytes.startIndex...(bytes.endIndex - wanted.count)).first {
      bytes[$0] == wanted[0] && bytes[$0...].starts(with: wanted)
    }
  }
}
