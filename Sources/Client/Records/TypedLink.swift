package import UniversalLinks

/// A link as a person types it.
package enum TypedLink {
  /// The link in the spelling that a tap offers. A host without a scheme gets `https://`. So does `example.com:8080`,
  /// although it could be a link of the scheme `example.com`.
  package static func uri(_ text: String) throws(RecordDraftError) -> URI {
    let typed = text.drop(while: \.isWhitespace)
    let name = typed.prefix { !"/?#:".contains($0) }
    let rest = typed[name.endIndex...]
    let hasPort = rest.first == ":" && rest.dropFirst().first?.isNumber == true
    if name.contains(".") || name == "localhost", hasPort || rest.first != ":" {
      if let uri = try? URI("https://" + typed) { return uri }
      // Likely a mistake, such as `example.com:99999`. A plus sign is in no host, but may be in a scheme.
      guard !hasPort || name.contains("+") else {
        throw RecordDraftError(
          .link,
          "no tap would offer this link: it begins with a host and a port, and what follows the host is wrong; "
            + "write it as in example.com:8080/menu, with a port up to 65535")
      }
    }
    do throws(URIError) {
      return try URI(text)
    } catch {
      let remedy =
        error.code == .badScheme ? "; write it in full, such as https://example.com/menu or tel:+15550100" : ""
      throw RecordDraftError(.link, "no tap would offer this link: \(error.message)\(remedy)")
    }
  }
}
