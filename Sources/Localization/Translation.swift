import CShims
import EventLoop
import Names

/// The words of the user's language for a text of ours, from gettext's catalogues.
///
/// The words of a catalogue are somebody else's: they are only ever put together, never read as a format. The file itself is read by
/// glibc, which trusts its tables as it does a library's; it is whoever has installed the program who has installed it.
public enum Translation {
  /// Finds the catalogues, for the whole process: by ``directory(environment:beside:)``, in the language of the process's environment.
  /// Before this, and where nothing is found, a text is itself.
  ///
  /// - Precondition: it is called once, before whoever asks for a text has begun, and nobody changes the environment meanwhile
  ///   (bindtextdomain(3) and newlocale(3) bear other threads).
  public static func start() {
    guard let directory = directory(environment: ProcessEnvironment.current, beside: OwnProgram.directory) else {
      return
    }
    _ = tagroute_bind_catalogue(Names.translationDomain, directory)
  }

  /// Where catalogues are, each in `LANGUAGE/LC_MESSAGES`.
  ///
  /// - Parameters:
  ///   - environment: `TAGROUTE_LOCALE` names the directory, so that a test can say what there is.
  ///   - program: the directory of the program, `bin` or `libexec`, which has `share` beside it.
  /// - Returns: an absolute path; nil where none is known.
  static func directory(environment: [String: String], beside program: String?) -> String? {
    if let given = environment["TAGROUTE_LOCALE"], given.hasPrefix("/") { return given }
    return program.map { "\($0)/../share/locale" }
  }

  /// A text in the user's language.
  ///
  /// - Parameters:
  ///   - message: the text in English, with `{name}` for each value.
  ///   - values: what takes those places, as it is.
  /// - Returns: the translation; the English text where there is none, or none that has exactly these places.
  public static func text(_ message: String, _ values: [String: String]) -> String {
    // Where there is no translation the answer is the text that was given, so that has to be there still.
    let translation = message.withCString { text in
      String(validatingCString: tagroute_translation(Names.translationDomain, text))
    }
    return translation.flatMap { filled($0, values) } ?? filled(message, values) ?? message
  }

  /// A template with its values, which are not looked into.
  ///
  /// - Returns: nil where a value has no place, or a place no value: a name that is left out could be what the user decides by.
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
