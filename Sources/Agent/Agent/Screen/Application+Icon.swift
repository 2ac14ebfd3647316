import Routing

extension Application {
  /// The icon for a notification server: a name of the icon theme, or a file.
  ///
  /// Anybody may have written the desktop entry, and a server decodes its icon, or even fetches it. So any other value
  /// is replaced.
  var shownIcon: String {
    guard let icon, Self.isName(icon) || Self.isFile(icon) else { return Self.anyApplication }
    return icon
  }

  /// For an app without an icon (Icon Naming Specification, "Standard MIME Type Icons").
  private static let anyApplication = "application-x-executable"

  /// A name of the Icon Theme Specification: without a slash, and without a colon, which an address has.
  private static func isName(_ icon: String) -> Bool {
    (1...255).contains(icon.utf8.count) && !icon.hasPrefix(".")
      && icon.unicodeScalars.allSatisfy { $0 != "/" && $0 != ":" && isVisible($0) }
  }

  /// An absolute path outside /dev, /proc and /sys, where reading may block or have side effects.
  private static func isFile(_ icon: String) -> Bool {
    // Split the bytes, as the kernel does: a combining mark after a slash forms another character with it.
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
