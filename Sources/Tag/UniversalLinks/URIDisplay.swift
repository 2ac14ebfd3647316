extension URI {
  /// A text that shows people where the link leads, in characters that cannot mislead.
  ///
  /// An http or https link is displayed without its scheme, because desktops turn `https://` into a link themselves.
  /// Other links keep their scheme: `sms:evil.example` does not lead to the web. A query becomes `?…`, and a fragment
  /// is left out. A web host is displayed as by `Host/display`. In a web link's path, percent-encoded letters are
  /// decoded. Characters that are invisible, run from right to left or have a meaning in URIs stay encoded.
  ///
  /// - Parameters:
  ///   - limit: the maximum length in Unicode scalars, at least 16. In Swift a whole path of Hangul letters can be one
  ///     `Character`. In a longer text, `…` replaces the middle of the path, or the start of a host that is too long.
  ///     The part of the host that has an owner is never cut, even beyond the limit.
  ///   - suffixes: the public suffixes, which decide which part of the host has an owner.
  /// - Returns: one line of plain text, neither escaped nor marked up.
  public func display(limit: Int = 80, suffixes: PublicSuffixList = .system) -> String {
    let limit = max(limit, 16)
    let origin = displayedOrigin(suffixes)
    guard origin.text.unicodeScalars.count <= limit else {
      return URI.end(of: origin.text, limit: limit, kept: origin.kept)
    }
    var tail = isWeb && path == "/" && query == nil ? "" : isWeb ? URI.readable(path) : path
    if query != nil { tail += "?…" }
    let room = limit - origin.text.unicodeScalars.count
    guard tail.unicodeScalars.count > room else { return origin.text + tail }
    guard room >= 3 else { return origin.text + String(repeating: "…", count: min(room, 1)) }
    let end = (room - 1) / 2
    return origin.text + tail.beginning(room - 1 - end) + "…" + tail.ending(end)
  }

  /// The text if it fits, or `…` and its end. The last `kept` scalars are never cut.
  fileprivate static func end(of text: String, limit: Int, kept: Int) -> String {
    text.unicodeScalars.count <= max(limit, kept) ? text : "…" + text.ending(max(limit - 1, kept))
  }

  /// The text before the path, and how many scalars at its end show the host's owner.
  private func displayedOrigin(_ suffixes: PublicSuffixList) -> (text: String, kept: Int) {
    let text = isWeb ? "" : scheme + ":"
    guard let host else { return (text, 0) }
    let port = port.map { ":\($0)" } ?? ""
    guard isWeb else {
      let shown = "//" + host.description
      return (text + shown + port, host.kind == .opaque ? 0 : shown.unicodeScalars.count + port.count)
    }
    let shown = host.displayed(suffixes)
    return (text + shown.text + port, shown.kept + port.count)
  }

  /// Decodes percent-encoded UTF-8 if the character is a visible non-ASCII one.
  static func readable(_ encoded: String) -> String {
    var result = String.UnicodeScalarView()
    var bytes = encoded.utf8[...]
    while let byte = bytes.first {
      if let (scalar, length) = encodedScalar(bytes), isSafe(scalar, after: result) {
        result.append(scalar)
        bytes = bytes.dropFirst(length)
      } else {
        result.append(Unicode.Scalar(byte))
        bytes = bytes.dropFirst()
      }
    }
    return String(result)
  }

  /// The non-ASCII scalar that is percent-encoded at the start of `bytes`, and how many bytes its encoding takes.
  private static func encodedScalar(_ bytes: Substring.UTF8View) -> (Unicode.Scalar, Int)? {
    guard let (utf8, count) = PercentEncoding.character(bytes),
      let scalar = String(decoding: utf8, as: UTF8.self).unicodeScalars.first, !scalar.isASCII
    else { return nil }
    return (scalar, count)
  }

  private static func isSafe(_ scalar: Unicode.Scalar, after text: String.UnicodeScalarView) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber, .letterNumber,
      .otherNumber:
      return !scalar.properties.isDefaultIgnorableCodePoint && !isRightToLeft(scalar)
    case .modifierLetter:
      return DisplayScript(scalar) != nil
    case .nonspacingMark, .spacingMark:
      // A mark has to follow a letter of the same script. A letter may have three marks; no language needs more.
      guard let script = DisplayScript(scalar), let base = text.suffix(3).last(where: { !isMark($0) }) else {
        return false
      }
      return DisplayScript(base) == script
    default:
      return false
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    [.nonspacingMark, .spacingMark].contains(scalar.properties.generalCategory)
  }

  /// Whether the scalar is in a Unicode range of right-to-left scripts (UAX #9 section 3.1, DerivedBidiClass).
  private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
    [0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF]
      .contains { $0.contains(scalar.value) }
  }
}

extension String {
  /// The longest start of whole characters with at most `most` scalars.
  fileprivate func beginning(_ most: Int) -> Substring {
    var room = most
    return prefix { character in
      room -= character.unicodeScalars.count
      return room >= 0
    }
  }

  /// The longest end of whole characters with at most `most` scalars.
  fileprivate func ending(_ most: Int) -> Substring {
    var room = most
    let start = indices.reversed().prefix { index in
      room -= self[index].unicodeScalars.count
      return room >= 0
    }.last
    return start.map { self[$0...] } ?? ""
  }
}

extension Host {
  /// The host as displayed in little space. It is cut at its start, because its end shows its owner.
  ///
  /// - Parameters:
  ///   - limit: the maximum length in Unicode scalars. The part of the host that has an owner is never cut, even beyond
  ///     it.
  ///   - suffixes: the public suffixes, which decide which part of the host has an owner.
  /// - Returns: ``display`` if it fits, or `…` and its end.
  public func display(limit: Int, suffixes: PublicSuffixList = .system) -> String {
    let (text, kept) = displayed(suffixes)
    return URI.end(of: text, limit: limit, kept: kept)
  }

  /// The displayed host, and how many scalars at its end show its owner.
  fileprivate func displayed(_ suffixes: PublicSuffixList) -> (text: String, kept: Int) {
    let shown = display
    guard kind == .domain, let registrable = suffixes.registrableDomain(of: text) else {
      return (shown, shown.unicodeScalars.count)
    }
    let labels = registrable.split(separator: ".").count
    return (shown, shown.split(separator: ".").suffix(labels).joined(separator: ".").unicodeScalars.count)
  }
}

extension DomainPattern {
  /// The pattern as displayed in little space. Its domain is displayed as by ``Host/display(limit:suffixes:)``.
  ///
  /// - Parameters:
  ///   - limit: the maximum length in Unicode scalars. The part of the domain that has an owner is never cut.
  ///   - suffixes: the public suffixes, which decide which part of the domain has an owner.
  /// - Returns: the domain, with `*.` in front if the pattern is a wildcard.
  public func display(limit: Int, suffixes: PublicSuffixList = .system) -> String {
    let wildcard = isWildcard ? "*." : ""
    guard let host = try? Host(name: domain) else { return description }
    return wildcard + host.display(limit: limit - wildcard.count, suffixes: suffixes)
  }
}
