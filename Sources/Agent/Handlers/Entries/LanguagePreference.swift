/// The user's languages, in the form in which desktop entries mark translations.
package enum LanguagePreference {
  /// The variants to look for, the best first (Desktop Entry Specification 1.5, "Localized values for keys"). For
  /// `de_AT.UTF-8@euro`: `de_AT@euro`, `de_AT`, `de@euro`, `de`.
  ///
  /// The environment contains `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and `LANG`.
  package static func languages(in environment: [String: String]) -> [String] {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    guard let locale = value("LC_ALL") ?? value("LC_MESSAGES") ?? value("LANG"), locale != "C", locale != "POSIX" else {
      return []
    }
    let locales = (value("LANGUAGE") ?? "").split(separator: ":").map(String.init) + [locale]
    var seen: Set<String> = []
    return locales.prefix(16).flatMap(variants).filter { seen.insert($0).inserted }
  }

  private static func variants(of locale: String) -> [String] {
    let (base, modifier) = split(locale, at: "@")
    let (name, _) = split(base, at: ".")
    let (language, country) = split(name, at: "_")
    guard !language.isEmpty, language != "C" else { return [] }
    var result: [String] = []
    if let country, let modifier { result.append("\(language)_\(country)@\(modifier)") }
    if let country { result.append("\(language)_\(country)") }
    if let modifier { result.append("\(language)@\(modifier)") }
    return result + [language]
  }

  private static func split(_ text: String, at separator: Character) -> (String, String?) {
    guard let index = text.firstIndex(of: separator) else { return (text, nil) }
    return (String(text[..<index]), String(text[index...].dropFirst()))
  }
}
