import EventLoop
import Glibc

/// The password of a Wi-Fi network. It is never an argument, because every user can see the arguments of a process.
enum WiFiPassword {
  /// The first line of a file, without its end.
  static func firstLine(of bytes: [UInt8]) -> [UInt8] {
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
  }

  /// Asks on the terminal, without showing the answer.
  static func ask(for network: String) async throws(Failure) -> [UInt8] {
    guard isatty(STDIN_FILENO) == 1 else {
      throw .usage("--wifi needs a password, and there is no terminal to ask: use --password-file or --no-password")
    }
    Console.tell("Password of \(Console.printable(network)): ")
    let answer = await withoutEcho { await BlockingRead.line() }
    Console.tell("\n")
    guard let answer else { throw Failure(message: "no password was given", exitCode: 1) }
    return Array(answer.utf8)
  }

  /// If a signal ends the program meanwhile, the shell restores the terminal.
  private static func withoutEcho(_ body: () async -> String?) async -> String? {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { return await body() }
    var hidden = before
    hidden.c_lflag &= ~tcflag_t(ECHO)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
    return await body()
  }
}
