import CShims
import EventLoop
import Names

/// Translates our texts into the user's language, with gettext's catalogues.
///
/// The texts of a catalogue are foreign: they are only concatenated, never used as a format. glibc reads the file and
/// trusts its tables like those of a library. The installer of the program also installed that file.
package enum Translation {
  /// Binds the catalogues in ``directory(environment:beside:)`` for the whole process, in the language of its
  /// environment. Before this call, or if there is no translation, ``text(_:_:)`` returns the English text.
  ///
  /// - Precondition: call it once, before any code requests a text, while no code changes the environment. Other
  ///   threads may run (bindtextdomain(3), newlocale(3)).
  package static func start() {
    guard let directory = directory(environment: ProcessEnvironment.current, beside: OwnProgram.directory) else {
      return
    }
    _ = tagroute_bind_catalogue(Names.translationDomain, directory)
  }

  /// The directory of the catalogues, each in `LANGUAGE/LC_MESSAGES`. An absolute path; nil if none is known.
  ///
  /// In a test, `TAGROUTE_LOCALE` names the directory. The program's directory, `bin` or `libexec`, has `share` beside
  /// it.
  static func directory(environment: [String: String], beside program: String?) -> String? {
    if let given = environment["TAGROUTE_LOCALE"], given.hasPrefix("/") { return given }
    return program.map { "\($0)/../share/locale" }
  }

  /// `message` is in English, with `{name}` for each value. Values are inserted unchanged.
  ///
  /// The text stays English if there is no translation with exactly these places.
  package static func text(_ message: String, _ values: [String: String]) -> String {
    // Without a translation, gettext returns its argument, so the argument has to exist until the result is copied.
    let translation = message.withCString { text in
      String(validatingCString: tagroute_translation(Names.translationDomain, text))
    }
    return translation.flatMap { filled($0, values) } ?? filled(message, values) ?? message
  }

  /// Braces in a value are not expanded. Nil if a value has no place, or a place has no value: the user's decision may
  /// depend on a missing name.
  static func filled(_ template: String, _ values: [String: String]) -> String? {
    var result = ""
    var used: Set<String> = []
    var rest = template[...]
    while let brace = rest.firstIndex(of: "{") {
      let inside = rest[brace...].dropFirst()
      guard let end = inside.firstIndex(of: "}"), let value = values[String(inside[..<end])] else { return nil }
      used.insert(String(inside[..<end]))
      result += rest[..<brace] + value
      rest = inside[end...].dropFirst()
    }
    return used.count == values.count ? result + rest : nil
  }
}
