/// The output of a command, buffered until the status line is hidden.
actor TagOutput {
  private let console: Console
  private var pending = ""

  init(_ console: Console) { self.console = console }

  /// Like `Console.answer`.
  func answer(
    _ value: some Encodable & Sendable, _ lines: [String], onOneLine: Bool = false
  ) throws(Failure) {
    if console.json { try object(value, onOneLine: onOneLine) } else { self.lines(lines) }
  }

  /// Like `Console.lines`.
  func lines(_ texts: [String]) { pending += Console.text(texts) }

  /// Like `Console.object`.
  func object(_ value: some Encodable & Sendable, onOneLine: Bool = false) throws(Failure) {
    pending += try console.text(value, onOneLine: onOneLine)
  }

  func flush() throws(Failure) {
    let text = pending
    pending = ""
    try Console.write(text)
  }
}
