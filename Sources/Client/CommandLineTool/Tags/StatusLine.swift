import Glibc

/// A status line on standard error that the next one replaces. Not shown if standard error is not a terminal.
struct StatusLine: Sendable {
  private let isShown = isatty(STDERR_FILENO) == 1

  func show(_ text: String) {
    // Carriage return, and erase to the end of the line (ECMA-48, 8.3.41).
    if isShown { Console.tell("\r\u{1B}[K\(Console.printable(text)) … ") }
  }

  /// Removes the status line before other output.
  func hide() {
    if isShown { Console.tell("\r\u{1B}[K") }
  }
}

extension Console {
  /// A text in the form that the daemon accepts for a sheet: without control characters, at most 256 bytes. A valid
  /// text of at most 253 bytes is unchanged.
  static func forSheet(_ text: String) -> String {
    var result = ""
    for character in printable(text) {
      guard result.utf8.count + character.utf8.count <= 253 else { return result + "…" }
      result.append(character)
    }
    return result
  }
}
