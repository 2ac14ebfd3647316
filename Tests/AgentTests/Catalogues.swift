import TestSupport
import Testing

/// The catalogues of translations, as they are installed.
enum Catalogues {
  /// The repository.
  private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(
    separator: "/")

  /// Makes them of the sources.
  ///
  /// - Parameter directory: where there are to be `LANGUAGE/LC_MESSAGES/tagroute.mo`.
  /// - Throws: where gettext is not installed, or a catalogue is wrong.
  static func build(in directory: String) async throws {
    let made = try await ChildProcess.run("\(root)/Packaging/build-catalogues", [directory])
    try #require(made.status == .exited(0), "\(made.log)")
  }

  /// Makes one of somebody else's.
  ///
  /// - Parameters:
  ///   - entries: the text and its translation.
  ///   - language: its code.
  ///   - directory: the installation's, with `locale` in it.
  /// - Throws: where gettext is not installed.
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
