extension Sequence<TextRecord> {
  /// The text in the most preferred available language.
  ///
  /// A language matches a text in this language or in one of its variants (RFC 4647, sections 3.3.1 and 3.4). For
  /// example, `pt` matches `pt-BR`, but `pt-PT` does not. A caller that accepts any variant passes `pt` as well.
  ///
  /// - Parameter languages: Language codes of RFC 4646 such as `pt-BR`, most preferred first; case-insensitive.
  /// - Returns: The matching text; the first text if none matches; nil if there is no text.
  public func preferred(in languages: [String]) -> TextRecord? {
    var best: (rank: Int, text: TextRecord)?
    let wanted = languages.map { $0.lowercased() }
    for text in self {
      let language = text.language.lowercased()
      // For one language, an exact match ranks before a variant.
      let rank =
        wanted.firstIndex(of: language).map { 2 * $0 }
        ?? wanted.firstIndex { language.hasPrefix($0 + "-") }.map { 2 * $0 + 1 } ?? 2 * wanted.count
      if best.map({ rank < $0.rank }) ?? true { best = (rank, text) }
    }
    return best?.text
  }
}
