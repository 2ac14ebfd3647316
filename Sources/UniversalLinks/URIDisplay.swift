extension URI {
  /// The link as a person is shown it: where it leads, in characters that cannot mislead.
  ///
  /// Host and path for http and https (desktops turn a text with a scheme into a link of their own), what follows the
  /// scheme for mailto, sms and tel, the whole for the rest; `?…` stands for a query. Percent-encoded letters are
  /// decoded, all that is invisible, changes the direction of writing or has a meaning in URIs stays encoded.
  ///
  /// - Parameter limit: the most characters to return, at least 16. Where the text is longer its middle becomes `…`; the
  ///   end of the host, where its owner's name stands, is kept as long as anything is.
  /// - Returns: one line of plain text, neither escaped nor marked up.
  public func display(limit: Int = 80) -> String {
    let limit = max(limit, 16)
    var origin = ["http", "https", "mailto", "sms", "tel"].contains(scheme) ? "" : scheme + ":"
    if let host {
      origin += (isWeb ? "" : "//") + host.description
      if let port { origin += ":\(port)" }
    }
    if origin.count > limit { return "…" + origin.suffix(limit - 1) }
    var tail = isWeb && path == "/" && query == nil ? "" : URI.readable(path)
    if query != nil { tail += "?…" }
    let room = limit - origin.count
    guard tail.count > room else { return origin + tail }
    guard room >= 3 else { return origin + String(repeating: "…", count: min(room, 1)) }
    let end = (room - 1) / 2
    return origin + tail.prefix(room - 1 - end) + "…" + tail.suffix(end)
  }

  /// Decodes percent-encoded UTF-8 where the character is a visible non-ASCII one.
  static func readable(_ encoded: String) -> String {
    var result = String.UnicodeScalarView()
    var bytes = encoded.utf8[...]
    while let byte = bytes.first {
      if let (scalar, length) = encodedScalar(bytes), isSafe(scalar) {
        result.append(scalar)
        bytes = bytes.dropFirst(length * 3)
      } else {
        result.append(Unicode.Scalar(byte))
        bytes = bytes.dropFirst()
      }
    }
    return String(result)
  }

  /// The scalar whose percent-encoded UTF-8 stands at the start of `bytes`, and its length in encoded bytes.
  private static func encodedScalar(_ bytes: Substring.UTF8View) -> (Unicode.Scalar, Int)? {
    var decoded: [UInt8] = []
    var rest = bytes
    while decoded.count < 4, rest.first == UInt8(ascii: "%") {
      let digits = rest.dropFirst().prefix(2).compactMap(CharacterClasses.hexValue)
      guard digits.count == 2 else { return nil }
      decoded.append(digits[0] << 4 | digits[1])
      rest = rest.dropFirst(3)
      if let text = String(validating: decoded, as: UTF8.self), let scalar = text.unicodeScalars.first {
        return scalar.isASCII ? nil : (scalar, decoded.count)
      }
    }
    return nil
  }

  private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber, .letterNumber,
      .otherNumber:
      !scalar.properties.isDefaultIgnorableCodePoint
    default: false
    }
  }
}
