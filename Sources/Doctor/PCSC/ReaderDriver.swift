/// A driver of pcscd: a bundle in its drivers folder, as the bundle's Info.plist describes it.
struct ReaderDriver: Sendable, Hashable {
  /// The file name of the bundle, such as `ifd-ccid.bundle`.
  let bundle: String
  /// `CFBundleShortVersionString`; nil if it is missing.
  let version: String?
  /// The reader's name, by vendor and product. pcscd begins the names of its readers with it.
  private let names: [UInt32: String]

  /// The longest Info.plist that is read. libccid's has some 60,000 bytes.
  static let longestFile = 1 << 20

  /// `text` are the contents of the bundle's Info.plist. pcscd takes the lists of vendors, products and names as they
  /// are, and so does this (`hotplug_libudev.c`, `HPReadBundleValues`; `tokenparser.l`).
  init(bundle: String, propertyList text: String) {
    self.bundle = bundle
    let values = Self.values(of: text)
    version = values["CFBundleShortVersionString"]?.first
    var names: [UInt32: String] = [:]
    let vendors = values["ifdVendorID"] ?? []
    let products = values["ifdProductID"] ?? []
    for ((vendor, product), name) in zip(zip(vendors, products), values["ifdFriendlyName"] ?? []) {
      guard let vendor = Self.identifier(vendor), let product = Self.identifier(product) else { continue }
      names[Self.key(vendor, product)] = name
    }
    self.names = names
  }

  /// `ccid 1.5.2`; nil without a version.
  var nameAndVersion: String? {
    var name = bundle[...]
    if name.hasPrefix("ifd-") { name = name.dropFirst(4) }
    if name.hasSuffix(".bundle") { name = name.dropLast(7) }
    return version.map { "\(name) \($0)" }
  }

  /// The name that the driver gives this model; nil if it does not know the model.
  func name(vendor: UInt16, product: UInt16) -> String? { names[Self.key(vendor, product)] }

  /// Whether the version is below `major.minor.patch`; false if it is unknown.
  func isOlder(than other: (Int, Int, Int)) -> Bool {
    guard let parts = version?.split(separator: ".").map({ Int($0) }), parts.count >= 2,
      let major = parts[0], let minor = parts[1]
    else { return false }
    let patch = parts.count > 2 ? parts[2] ?? 0 : 0
    return (major, minor, patch) < other
  }

  private static func key(_ vendor: UInt16, _ product: UInt16) -> UInt32 { UInt32(vendor) << 16 | UInt32(product) }

  /// `0x072F`.
  private static func identifier(_ text: String) -> UInt16? {
    let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : Substring(text)
    return UInt16(digits, radix: 16)
  }

  /// The strings behind each key, in order. Everything but keys and strings is skipped.
  private static func values(of text: String) -> [String: [String]] {
    var values: [String: [String]] = [:]
    var key: String?
    var isComment = false
    for part in text.split(separator: "<", omittingEmptySubsequences: true) {
      if isComment || part.hasPrefix("!--") {
        isComment = !part.contains("-->")
        continue
      }
      guard let end = part.firstIndex(of: ">") else { continue }
      let content = part[part.index(after: end)...]
      switch part[..<end] {
      case "key": key = String(content)
      case "string": if let key { values[key, default: []].append(decoded(content)) }
      default: break
      }
    }
    return values
  }

  private static func decoded(_ text: Substring) -> String {
    String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
  }
}
