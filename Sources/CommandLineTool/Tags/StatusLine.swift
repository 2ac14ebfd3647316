import Glibc

/// What goes on, in a line on standard error that the next one replaces; where that is no terminal, nothing.
struct StatusLine: Sendable {
  private let isShown = isatty(STDERR_FILENO) == 1

  /// Shows a line of our own in the place of the one before.
  func show(_ text: String) {
    // Carriage return, and erase to the end of the line (ECMA-48, 8.3.41).
    if isShown { Console.tell("\r\u{1B}[K\(Console.printable(text)) … ") }
  }

  /// Takes the line away, for what is going to be printed.
  func hide() {
    if isShown { Console.tell("\r\u{1B}[K") }
  }
}

extension Console {
  /// A text of ours as the sheet of a reader session takes it: without controls, at most 256 bytes. One that is so already, and has
  /// at most 253, is itself.
  static func forSheet(_ text: String) -> String {
    var result = ""
    for character in printable(text) {
      guard result.utf8.count + character.utf8.count <= 253 else { return result + "…" }
      result.append(character)
    }
    return result
  }
}
