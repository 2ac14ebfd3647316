import TestKit
import Testing

/// The catalogues of translations in their installed form.
enum Catalogues {
  /// Builds all catalogues from their sources.
  ///
  /// - Parameter directory: the folder for `LANGUAGE/LC_MESSAGES/tagroute.mo`.
  /// - Throws: if gettext is not installed or a catalogue has an error.
  static func build(in directory: String) async throws {
    let made = try await ChildProcess.run("\(repositoryRoot)/Packaging/build-catalogues", [directory])
    try #require(made.status == .exited(0), "\(made.log)")
  }

  /// Builds a catalogue with the test's own entries.
  ///
  /// - Parameters:
  ///   - entries: the texts and their translations.
  ///   - language: the code of the language.
  ///   - directory: the folder of the installation, which has the folder `locale`.
  /// - Throws: if gettext is not installed.
  static func build(_ entries: [(String, String)], language: String, in directory: TemporaryDirectory) async throws {
    let header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
    let source = try directory.write(
      header + entries.map { "msgid \"\($0)\"\nmsgstr \"\($1)\"\n\n" }.joined(), to: "\(language).po")
    let target = try directory.write("", to: "locale/\(language)/LC_MESSAGES/tagroute.mo")
    let program = try BuiltProducts.systemProgram("msgfmt", package: "gettext")
    let made = try await ChildProcess.run(program, ["--output-file", target, source])
    try #require(made.status == .exited(0), "\(made.log)")
  }
}
