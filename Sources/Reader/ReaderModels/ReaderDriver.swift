/// A driver of pcscd: a bundle in its drivers folder, as the bundle's Info.plist describes it.
package struct ReaderDriver: Sendable, Hashable {
  /// The file name of the bundle, such as `ifd-ccid.bundle`.
  package let bundle: String
  /// `CFBundleShortVersionString`; nil if it is missing.
  package let version: String?
  /// By model. pcscd begins the names of its readers with it. Of a model that is listed twice, the first name is used.
  package let names: [ReaderModel.Identifier: String]

  /// In bytes. libccid's has some 60,000.
  package static let longestFile = 1 << 20
  /// libccid has 560.
  package static let mostModels = 8192

  /// `text` is the contents of the bundle's Info.plist. pcscd takes the lists of vendors, products and names as they
  /// are, and so does this (`hotplug_libudev.c`, `HPReadBundleValues`; `tokenparser.l`).
  package init(bundle: String, propertyList text: String) {
    self.bundle = bundle
    let values = Self.values(of: text)
    version = values["CFBundleShortVersionString"]?.first
    var names: [ReaderModel.Identifier: String] = [:]
    let vendors = values["ifdVendorID"] ?? []
    let products = values["ifdProductID"] ?? []
    for ((vendor, product), name) in zip(zip(vendors, products), values["ifdFriendlyName"] ?? []).prefix(
      Self.mostModels)
    {
      guard let vendor = Self.number(vendor), let product = Self.number(product) else { continue }
      let model = ReaderModel.Identifier(vendor, product)
      if names[model] == nil { names[model] = name }
    }
    self.names = names
  }

  /// `ccid 1.5.2`; nil without a version.
  package var nameAndVersion: String? {
    var name = bundle[...]
    if name.hasPrefix("ifd-") { name = name.dropFirst(4) }
    if name.hasSuffix(".bundle") { name = name.dropLast(7) }
    return version.map { "\(name) \($0)" }
  }

  /// Nil if the driver does not know the model.
  package func name(vendor: UInt16, product: UInt16) -> String? { names[ReaderModel.Identifier(vendor, product)] }

  /// By `major.minor.patch`; false if a version is unknown.
  package func isOlder(than other: String) -> Bool {
    guard let own = version.flatMap(Self.numbers(of:)), let other = Self.numbers(of: other) else { return false }
    return own < other
  }

  private static func numbers(of version: String) -> (Int, Int, Int)? {
    let parts = version.split(separator: ".").map { Int($0) }
    guard parts.count >= 2, let major = parts[0], let minor = parts[1] else { return nil }
    return (major, minor, parts.count > 2 ? parts[2] ?? 0 : 0)
  }

  /// As pcscd reads it: hexadecimal digits, with or without `0x`.
  private static func number(_ text: String) -> UInt16? {
    let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : Substring(text)
    return UInt16(digits, radix: 16)
  }

  /// Of each key's array, or its only string. Everything else is skipped.
  private static func values(of text: String) -> [String: [String]] {
    var values: [String: [String]] = [:]
    var key: String?
    var isArray = false
    var isComment = false
    for part in text.split(separator: "<", omittingEmptySubsequences: true) {
      if isComment || part.hasPrefix("!--") {
        isComment = !part.contains("-->")
        continue
      }
      guard let end = part.firstIndex(of: ">") else { continue }
      let content = part[part.index(after: end)...]
      switch part[..<end] {
      case "key": (key, isArray) = (String(content), false)
      case "array": isArray = true
      case "/array": key = nil
      case "string":
        guard let name = key else { continue }
        values[name, default: []].append(decoded(content))
        if !isArray { key = nil }
      default: break
      }
    }
    return values
  }

  private static func decoded(_ text: Substring) -> String {
    guard text.contains("&") else { return String(text) }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
    return entities.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
  }
}
