import EventLoop
import Glibc

/// The password of a Wi-Fi network. It is never an argument, because every user can see the arguments of a process.
enum WiFiPassword {
  /// The first line of a file, without its end.
  static func firstLine(of bytes: [UInt8]) -> [UInt8] {
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
  }

  /// Asks twice on the terminal, without showing the answers.
  static func ask(for network: String) async throws(Failure) -> [UInt8] {
    guard isatty(STDIN_FILENO) == 1 else {
      throw .usage("--wifi needs a password, and there is no terminal to ask: use --password-file or --no-password")
    }
    let first = try await hiddenLine("Password of \(Console.printable(network)): ")
    guard try await hiddenLine("The same password again: ") == first else {
      throw Failure(message: "the two passwords differ: nothing is written. Try again", exitCode: 1)
    }
    return first
  }

  private static func hiddenLine(_ question: String) async throws(Failure) -> [UInt8] {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else {
      throw Failure(message: "the terminal cannot hide a password: use --password-file", exitCode: 1)
    }
    var hidden = before
    // Not every shell shows what is typed again if ^C ends the program here. So ^C ends the line instead. In `c_cc`, 0 is
    // VINTR and 11 is VEOL (termios(3)).
    hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
    let interrupt = before.c_cc.0
    hidden.c_cc.11 = interrupt
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    Console.tell(question)
    let line = (try? await DedicatedThread.run { readLine() }) ?? []
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
    Console.tell("\n")
    if line.last == interrupt { throw Failure(message: "nothing is written", exitCode: 128 + SIGINT) }
    guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else {
      throw Failure(message: "no password was given", exitCode: 1)
    }
    return Array(line[..<end])
  }

  /// What the terminal gives at once: a line with its end.
  private static func readLine() -> [UInt8] {
    var line = [UInt8](repeating: 0, count: 4096)
    let count = read(STDIN_FILENO, &line, line.count)
    return Array(line.prefix(max(count, 0)))
  }
}
