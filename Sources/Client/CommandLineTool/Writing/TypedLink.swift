import UniversalLinks

/// A link as a person types it.
enum TypedLink {
  /// The link in the spelling that a tap offers. A host without a scheme gets `https://`.
  static func uri(_ text: String) throws(Failure) -> URI {
    if let uri = withHost(text) { return uri }
    guard !looksLikeHostWithPort(text) else {
      throw .usage(
        "no tap would offer this link: it begins with a host and a port, and what follows the host is wrong; "
          + "write it as in example.com:8080/menu, with a port up to 65535")
    }
    do throws(URIError) {
      return try URI(text)
    } catch {
      let remedy =
        error.code == .badScheme ? "; write it in full, such as https://example.com/menu or tel:+15550100" : ""
      throw .usage("no tap would offer this link: \(error.message)\(remedy)")
    }
  }

  /// Whether the text is likely a mistake, such as `example.com:99999`, rather than a link of the scheme `example.com`.
  /// No host has a plus sign.
  private static func looksLikeHostWithPort(_ text: String) -> Bool {
    let name = text.drop(while: \.isWhitespace).prefix { !"/?#:".contains($0) }
    guard (name.contains(".") && !name.contains("+")) || name == "localhost" else { return false }
    let rest = text[name.endIndex...]
    return rest.first == ":" && rest.dropFirst().first?.isNumber == true
  }

  /// Nil if the text does not begin with a host. `example.com:8080` does, although it could be a link of the scheme
  /// `example.com`.
  private static func withHost(_ text: String) -> URI? {
    let text = text.drop(while: \.isWhitespace)
    let name = text.prefix { !"/?#:".contains($0) }
    var rest = text[name.endIndex...]
    if rest.first == ":" {
      let port = rest.dropFirst().prefix(while: \.isNumber)
      guard !port.isEmpty else { return nil }
      rest = rest[port.endIndex...]
    }
    guard name.contains(".") || name == "localhost", rest.isEmpty || "/?# ".contains(rest[rest.startIndex]) else {
      return nil
    }
    return try? URI("https://" + text)
  }
}
