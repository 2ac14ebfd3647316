import Handlers

/// The user's languages, in the form that tags use.
enum UserLanguages {
  /// Codes of RFC 4646, the best first: `pt-BR` and `pt` for `pt_BR.UTF-8`. `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and
  /// `LANG` apply, with gettext's rules. English if no language is set, as in our own texts.
  static func codes(in environment: [String: String]) -> [String] {
    var seen: Set<String> = []
    let codes = LanguagePreference.languages(in: environment).flatMap(codes).filter { seen.insert($0).inserted }
    return codes.isEmpty ? ["en"] : codes
  }

  /// Codes for a locale's name without its character set, for example `sr_RS@latin`.
  private static func codes(of locale: String) -> [String] {
    let parts = locale.split(separator: "@", maxSplits: 1)
    guard let name = parts.first else { return [] }
    let code = name.split(separator: "_").joined(separator: "-")
    guard let language = name.split(separator: "_").first else { return [] }
    if parts.count > 1 { return scripts[String(parts[1])].map { ["\(language)-\($0)"] } ?? [] }
    // Chinese is written in two scripts. The country implies the script, and a tag may be marked with either.
    return [code] + (scriptOfCountry[code].map { [$0] } ?? [])
  }

  private static let scripts = ["latin": "Latn", "cyrillic": "Cyrl"]
  private static let scriptOfCountry = [
    "zh-CN": "zh-Hans", "zh-SG": "zh-Hans", "zh-TW": "zh-Hant", "zh-HK": "zh-Hant", "zh-MO": "zh-Hant",
  ]
}
