/// The language codes of text records (NFC Forum Text RTD 1.0, section 3.2.2; RFC 5646).
enum LanguageTag {
  /// The language, script and region of a locale, such as `zh-Hans-CN` for `zh_Hans_CN` or `en-US` for `en_US_POSIX`.
  ///
  /// - Parameter identifier: the identifier of a `Locale`. What follows `@` or `.` is ignored, such as a currency.
  /// - Returns: the language code; nil if the identifier has no language.
  static func of(localeIdentifier identifier: String) -> String? {
    let name = identifier.prefix { $0 != "@" && $0 != "." }
    var parts = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }[...]
    guard let language = parts.popFirst(), (2...8).contains(language.utf8.count), language.utf8.allSatisfy(isLetter)
    else { return nil }
    var tag = language.lowercased()
    if let script = parts.first, script.utf8.count == 4, script.utf8.allSatisfy(isLetter) {
      tag += "-" + script
      parts.removeFirst()
    }
    if let region = parts.first, isRegion(region) { tag += "-" + region }
    return tag
  }

  /// Two letters (ISO 3166-1) or three digits (UN M.49).
  private static func isRegion(_ part: Substring) -> Bool {
    part.utf8.count == 2 && part.utf8.allSatisfy(isLetter)
      || part.utf8.count == 3 && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
