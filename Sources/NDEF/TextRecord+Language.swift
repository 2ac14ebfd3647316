extension Sequence<TextRecord> {
  /// The text in the first of the languages in which there is one.
  ///
  /// A language is matched by a text in it, or in one of its variants: `pt` by `pt-BR`, but never `pt-PT` by `pt-BR`, for which
  /// whoever asks names `pt` as well (RFC 4647, sections 3.3.1 and 3.4).
  ///
  /// - Parameter languages: Codes of RFC 4646 such as `pt-BR`, the preferred one first; case does not count.
  /// - Returns: The text; where there is none in these languages the first one; nil where there is no text.
  public func preferred(in languages: [String]) -> TextRecord? {
    var best: (rank: Int, text: TextRecord)?
    let wanted = languages.map { $0.lowercased() }
    for text in self {
      let language = text.language.lowercased()
      // A text in the very language goes before one in a variant of it.
      let rank =
        wanted.firstIndex(of: language).map { 2 * $0 }
        ?? wanted.firstIndex { language.hasPrefix($0 + "-") }.map { 2 * $0 + 1 } ?? 2 * wanted.count
      if best.map({ rank < $0.rank }) ?? true { best = (rank, text) }
    }
    return best?.text
  }
}
