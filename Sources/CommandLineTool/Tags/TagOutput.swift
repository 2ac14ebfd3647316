import Glibc

/// What a command says of a tag, kept until the line that shows what goes on has made room for it.
actor TagOutput {
  private let console: Console
  private var pending = ""

  init(_ console: Console) { self.console = console }

  /// As `Console.answer`.
  func answer(
    _ value: some Encodable & Sendable, _ lines: [String], onOneLine: Bool = false
  ) throws(Failure) {
    if console.json { try object(value, onOneLine: onOneLine) } else { self.lines(lines) }
  }

  /// As `Console.lines`.
  func lines(_ texts: [String]) { pending += Console.text(texts) }

  /// As `Console.object`.
  func object(_ value: some Encodable & Sendable, onOneLine: Bool = false) throws(Failure) {
    pending += try console.text(value, onOneLine: onOneLine)
  }

  /// Prints it.
  func flush() throws(Failure) {
    let text = pending
    pending = ""
    try Console.write(text, to: STDOUT_FILENO)
  }
}
