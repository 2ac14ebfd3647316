/// Splits a URI into its components from start to end, following RFC 3986 appendix B.
struct URIParser {
  private var rest: Substring.UTF8View

  init(_ written: String) throws(URIError) {
    let text = Self.trimmed(written)
    guard text.utf8.count <= URI.maximumLength else {
      throw URIError(.tooLong, "the URI has more than \(URI.maximumLength) bytes")
    }
    for scalar in text.unicodeScalars where scalar.properties.generalCategory == .control {
      throw URIError(.forbiddenCharacter, "the URI has the control character \(CharacterClasses.name(scalar))")
    }
    rest = text.utf8
  }

  /// The text without spaces and control characters at its ends (WHATWG URL, "basic URL parser", step 1).
  private static func trimmed(_ text: String) -> Substring {
    let isPadding = { (scalar: Unicode.Scalar) in scalar.value <= 0x20 }
    var scalars = text.unicodeScalars[...]
    scalars = scalars.drop(while: isPadding)
    while let last = scalars.last, isPadding(last) { scalars.removeLast() }
    return Substring(scalars)
  }

  mutating func scheme() throws(URIError) -> String {
    guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else {
      throw URIError(.badScheme, "the URI has no scheme")
    }
    let name = rest[..<colon]
    guard let first = name.first, CharacterClasses.isAlpha(first), name.allSatisfy(CharacterClasses.isSchemeCharacter)
    else {
      throw URIError(.badScheme, "what stands before the first colon is not a scheme")
    }
    rest = rest[colon...].dropFirst()
    let scheme = String(decoding: name.map(CharacterClasses.lowercased), as: UTF8.self)
    guard !URI.forbiddenSchemes.contains(scheme) else {
      throw URIError(.forbiddenScheme, "\(scheme) links are never opened from a tag")
    }
    return scheme
  }

  mutating func authority(isWeb: Bool) throws(URIError) -> (host: Host, port: UInt16?)? {
    guard rest.starts(with: "//".utf8) else {
      if isWeb { throw URIError(.badHost, "a web link needs // and a host after its scheme") }
      return nil
    }
    rest = rest.dropFirst(2)
    let authority = take(until: "/?#")
    guard !authority.utf8.contains(UInt8(ascii: "@")) else {
      throw URIError(.userInformation, "the URI has user information before its host")
    }
    if authority.utf8.contains(UInt8(ascii: "\\")) {
      throw URIError(.forbiddenCharacter, "the URI has a backslash before its path")
    }
    if authority.hasPrefix("[") {
      guard let bracket = authority.firstIndex(of: "]") else {
        throw URIError(.badHost, "the host has a bracket that is never closed")
      }
      let address = String(authority[..<bracket].dropFirst())
      return (try Host(ipv6: address), try port(authority[bracket...].dropFirst()))
    }
    let colon = authority.firstIndex(of: ":") ?? authority.endIndex
    let name = authority[..<colon]
    let port = try port(authority[colon...])
    if isWeb { return (try Host(name: String(name)), port) }
    for scalar in name.unicodeScalars {
      guard scalar.isASCII, let byte = scalar.utf8.first,
        CharacterClasses.isUnreserved(byte) || CharacterClasses.isSubDelimiter(byte)
      else {
        throw URIError(.badHost, "the host has the character \(CharacterClasses.name(scalar))")
      }
    }
    return (Host(opaque: String(name)), port)
  }

  mutating func path(isWeb: Bool) throws(URIError) -> String {
    let path = take(until: "?#")
    // Browsers take it for a slash.
    if isWeb, path.utf8.contains(UInt8(ascii: "\\")) {
      throw URIError(.forbiddenCharacter, "the path has a backslash")
    }
    return Self.encoded(path, CharacterClasses.isPathCharacter)
  }

  mutating func query() -> String? {
    guard rest.first == UInt8(ascii: "?") else { return nil }
    rest = rest.dropFirst()
    return Self.encoded(take(until: "#"), CharacterClasses.isQueryCharacter)
  }

  mutating func fragment() -> String? {
    guard rest.first == UInt8(ascii: "#") else { return nil }
    rest = rest.dropFirst()
    return Self.encoded(take(until: ""), CharacterClasses.isQueryCharacter)
  }

  private mutating func take(until delimiters: String) -> Substring {
    let end = rest.firstIndex { delimiters.utf8.contains($0) } ?? rest.endIndex
    defer { rest = rest[end...] }
    return Substring(rest[..<end])
  }

  /// `text` starts with the colon, or is empty.
  private func port(_ text: Substring) throws(URIError) -> UInt16? {
    guard !text.isEmpty else { return nil }
    let digits = text.dropFirst()
    guard text.hasPrefix(":"), digits.utf8.allSatisfy(CharacterClasses.isDigit) else {
      throw URIError(.badPort, "the port is not a number")
    }
    guard !digits.isEmpty else { return nil }
    guard let port = UInt16(digits) else { throw URIError(.badPort, "the port is above 65535") }
    return port
  }

  /// Percent-encodes everything that is not allowed, and each `%` that no two hexadecimal digits follow.
  private static func encoded(_ text: Substring, _ isAllowed: (UInt8) -> Bool) -> String {
    var result: [UInt8] = []
    var bytes = text.utf8[...]
    while let byte = bytes.popFirst() {
      let digits = bytes.prefix(2)
      let isEncoded = byte == UInt8(ascii: "%") && digits.count == 2 && digits.allSatisfy(CharacterClasses.isHexDigit)
      if isEncoded || isAllowed(byte) {
        result.append(byte)
      } else {
        let digits = Array("0123456789ABCDEF".utf8)
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
