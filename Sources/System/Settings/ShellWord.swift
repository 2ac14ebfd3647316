/// A word of a command line that a person copies from a message into a shell.
package enum ShellWord {
  private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:,+@=".utf8)

  /// The word as it is if no shell changes it, else in single quotes.
  package static func quoted(_ word: String) -> String {
    // zsh replaces =COMMAND by the path of the command.
    if !word.isEmpty, word.first != "=", word.utf8.allSatisfy(plain.contains) { return word }
    return "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
  }
}
