import EventLoop
import Foundation
import Names
import TagrouteClient

/// What an app declares in its Info.plist on iOS (an addition of Linux's).
///
/// `current` is what the program has set; else what an Info.plist says: the one of `Bundle.main`, which lies beside the
/// program, or `../share/NAME/Info.plist`, where NAME is the name of the program. The second is for programs in
/// `/usr/bin`. Keys: `com.apple.developer.nfc.readersession.iso7816.select-identifiers`,
/// `com.apple.developer.nfc.readersession.felica.systemcodes`, `NFCReaderUsageDescription`.
public struct NFCDeclarations: Sendable, Hashable {
  /// Why the program reads tags. The sheet shows it until the program sets `alertMessage`.
  public var usageDescription: String?
  /// The applications of ISO 7816 cards, hexadecimal, 5 to 16 bytes each; nil if the program declares no list.
  public var iso7816SelectIdentifiers: [String]?
  /// The systems of FeliCa cards, four hexadecimal digits each, without a byte FF; nil if there is no list.
  public var feliCaSystemCodes: [String]?

  /// Creates declarations.
  public init(
    usageDescription: String? = nil, iso7816SelectIdentifiers: [String]? = nil, feliCaSystemCodes: [String]? = nil
  ) {
    self.usageDescription = usageDescription
    self.iso7816SelectIdentifiers = iso7816SelectIdentifiers
    self.feliCaSystemCodes = feliCaSystemCodes
  }

  /// The declarations of this program. A session reads them when it is made.
  public static var current: NFCDeclarations {
    get { set.withLock { $0 } ?? ofProgram }
    set { set.withLock { $0 = newValue } }
  }

  private static let set = Locked<NFCDeclarations?>(nil)

  private static let ofProgram: NFCDeclarations = {
    // Without an Info.plist, a bundle may have an empty dictionary instead of none.
    let besideProgram = Bundle.main.infoDictionary ?? [:]
    return NFCDeclarations(propertyList: besideProgram.isEmpty ? installed ?? [:] : besideProgram)
  }()

  private static var installed: [String: Any]? {
    guard let program = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return nil }
    let prefix = program.deletingLastPathComponent().deletingLastPathComponent()
    let file = prefix.appendingPathComponent("share/\(program.lastPathComponent)/Info.plist")
    guard let data = try? Data(contentsOf: file) else { return nil }
    return try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
  }

  init(propertyList: [String: Any]) {
    self.init(
      usageDescription: propertyList["NFCReaderUsageDescription"] as? String,
      iso7816SelectIdentifiers: propertyList[Self.prefix + "iso7816.select-identifiers"] as? [String],
      feliCaSystemCodes: propertyList[Self.prefix + "felica.systemcodes"] as? [String])
  }

  private static let prefix = "com.apple.developer.nfc.readersession."
}

extension NFCDeclarations {
  /// The valid applications of a list: 5 to 16 bytes each (ISO/IEC 7816-4, 8.2.1.2).
  static func applications(_ list: [String]) -> [[UInt8]] {
    list.compactMap(Hexadecimal.bytes).filter { (5...16).contains($0.count) }
  }

  /// The valid systems of a list: two bytes each, none of them FF.
  static func systems(_ list: [String]) -> [UInt16] {
    list.compactMap(Hexadecimal.bytes).filter { $0.count == 2 && !$0.contains(0xFF) }
      .map { UInt16($0[0]) << 8 | UInt16($0[1]) }
  }
}
