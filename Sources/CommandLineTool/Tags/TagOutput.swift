import Glibc

/// What a command says of a tag, kept until the line that shows what goes on has made room for it.
actor TagOutput {
  private let console: Console
  private var pending = ""

  init(_ console: Console) { self.console = console }

  /// As `Console.line`.
  func line(_ text: String) { pending += Console.printable(text) + "\n" }

  /// As `Console.object`.
  func object(_ value: some Encodable & Sendable, onOneLine: Bool = false) throws(Failure) {
    pending += try console.text(value, onOneLine: onOneLine)
  }

  /// Prints it.
  func flush() {
    Console.write(pending, to: STDOUT_FILENO)
    pending = ""
  }
}
