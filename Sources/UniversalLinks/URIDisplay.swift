extension URI {
  /// The link as a person is shown it: where it leads, in characters that cannot mislead.
  ///
  /// Host and path for http and https (desktops turn a text with `https://` into a link of their own), the whole for the rest, for
  /// `sms:evil.example` is none of the web; `?…` stands for a query. The host is as `Host/display` has it. In
  /// the path of a web link, percent-encoded letters are decoded; what is invisible, is written from right to left or has a
  /// meaning in URIs stays encoded.
  ///
  /// - Parameters:
  ///   - limit: the most characters to return, at least 16, counted as Unicode scalars: for Swift a whole path of Hangul letters can be
  ///     one `Character`. Where the text is longer its middle becomes `…`. The part of the host that has an owner is never cut, not
  ///     even where it alone is longer.
  ///   - suffixes: which domains are public suffixes, and so which part that is.
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

  /// The end of a text that is too long, with `…` for what is left out of it, and no `…` where nothing is.
  fileprivate static func end(of text: String, limit: Int, kept: Int) -> String {
    text.unicodeScalars.count <= max(limit, kept) ? text : "…" + text.ending(max(limit - 1, kept))
  }

  /// What stands before the path, and how many scalars of its end say whose the host is.
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

  /// Decodes percent-encoded UTF-8 where the character is a visible non-ASCII one.
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

  /// The scalar beyond ASCII whose percent-encoded UTF-8 stands at the start of `bytes`, and how many bytes of it that is.
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
      // On a letter of its script, and no more than three of them, which is what languages need.
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

  /// Where Unicode has the scripts that are written from right to left (UAX #9 section 3.1, DerivedBidiClass).
  private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
    [0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF]
      .contains { $0.contains(scalar.value) }
  }
}

extension String {
  /// As many whole characters of the beginning as have no more than so many scalars.
  fileprivate func beginning(_ most: Int) -> Substring {
    var room = most
    return prefix { character in
      room -= character.unicodeScalars.count
      return room >= 0
    }
  }

  /// As many whole characters of the end as have no more than so many scalars.
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
  /// The host as a person is shown it where there is little room: cut in front, for whose it is stands at its end.
  ///
  /// - Parameters:
  ///   - limit: the most Unicode scalars to return. The part of the host that has an owner is never cut, not even where it alone
  ///     is longer.
  ///   - suffixes: which domains are public suffixes, and so which part that is.
  /// - Returns: ``display``; where that is too long, `…` and the end of it.
  public func display(limit: Int, suffixes: PublicSuffixList = .system) -> String {
    let (text, kept) = displayed(suffixes)
    return URI.end(of: text, limit: limit, kept: kept)
  }

  /// The host, and how many scalars of its end say whose it is.
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
  /// The pattern as a person is shown it where there is little room: its domain as ``Host/display(limit:suffixes:)`` has it.
  ///
  /// - Parameters:
  ///   - limit: the most Unicode scalars to return, apart from the part of the domain that has an owner.
  ///   - suffixes: which domains are public suffixes, and so which part that is.
  /// - Returns: the domain, with `*.` in front where what is below it is meant.
  public func display(limit: Int, suffixes: PublicSuffixList = .system) -> String {
    let wildcard = isWildcard ? "*." : ""
    guard let host = try? Host(name: domain) else { return description }
    return wildcard + host.display(limit: limit - wildcard.count, suffixes: suffixes)
  }
}
