import Routing

extension Application {
  /// The icon that a notification server is given: a name of the desktop's theme, or a file.
  ///
  /// The entry's own where it is one of the two; anybody may have written it, and a server hands it to its decoders or even fetches it.
  var shownIcon: String {
    guard let icon, Self.isName(icon) || Self.isFile(icon) else { return Self.anyApplication }
    return icon
  }

  /// For an app without an icon (Icon Naming Specification, "Standard MIME Type Icons").
  private static let anyApplication = "application-x-executable"

  /// As the Icon Theme Specification has names: no path, and no address, which has a colon.
  private static func isName(_ icon: String) -> Bool {
    (1...255).contains(icon.utf8.count) && !icon.hasPrefix(".")
      && icon.unicodeScalars.allSatisfy { $0 != "/" && $0 != ":" && isVisible($0) }
  }

  /// An absolute path, and not where reading need not come to an end, or does something.
  private static func isFile(_ icon: String) -> Bool {
    // By bytes, as the system reads it: a mark behind a slash makes another character of it.
    let folders = icon.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    return icon.utf8.first == UInt8(ascii: "/") && icon.utf8.count <= 4096 && !folders.contains(".")
      && !folders.contains("..")
      && !["dev", "proc", "sys"].contains(folders.first ?? "dev")
      && icon.unicodeScalars.allSatisfy { $0 == " " || isVisible($0) }
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse, .surrogate, .unassigned:
      false
    default: !scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
