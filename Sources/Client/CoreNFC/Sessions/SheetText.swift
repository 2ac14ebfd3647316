/// Texts of a program on the sheet that the user sees.
enum SheetText {
  /// The text as the daemon takes it.
  ///
  /// Line breaks become U+000A. Other control and format characters are left out, which the daemon refuses. The text
  /// is cut at a character, so that it has at most 256 bytes.
  static func plain(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    var former: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control where scalar == "\n" && former == "\r": break
      case .control where scalar == "\n" || scalar == "\r", .lineSeparator, .paragraphSeparator: scalars.append("\n")
      case .control, .format: break
      default: scalars.append(scalar)
      }
      former = scalar
    }
    var bytes = 0
    return String(
      String(scalars).prefix { character in
        bytes += character.utf8.count
        return bytes <= limit
      })
  }

  private static let limit = 256
}
