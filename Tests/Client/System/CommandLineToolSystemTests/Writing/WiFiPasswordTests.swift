import TestKit
import Testing

/// `tagroute write --wifi` on a terminal. Python is the person at it: it types after each question.
@Suite(.timeLimit(.minutes(5))) struct WiFiPasswordTests {
  @Test func `two passwords that differ are not written`() async throws {
    let shown = try await typing("correct horse\n", "correct house\n")
    #expect(shown.hasSuffix("tagroute: the two passwords differ: nothing is written. Try again\nexit 1, echo on"))
    #expect(!shown.contains("horse") && !shown.contains("house"))
  }

  @Test func `the interrupt key ends the question, and the terminal shows again what is typed`() async throws {
    #expect(try await typing("\u{3}").hasSuffix("tagroute: nothing is written\nexit 130, echo on"))
    #expect(try await typing("correct horse\n", "corr\u{3}").hasSuffix("nothing is written\nexit 130, echo on"))
  }

  @Test func `the same password twice is taken`() async throws {
    // There is no daemon, so this is as far as the command gets.
    #expect(try await typing("correct horse\n", "correct horse\n").contains("exit 69, echo on"))
  }

  /// What the terminal showed, how the command ended, and the state of the terminal then.
  private func typing(_ answers: String..., starter: String = #function) async throws -> String {
    let program = """
      import os, pty, subprocess, sys, termios
      terminal, end = pty.openpty()
      command = [sys.argv[1], "write", "--wifi", "Guest"]
      child = subprocess.Popen(command, stdin=end, stdout=end, stderr=end, start_new_session=True)
      shown, asked = "", 0
      for answer in sys.argv[2:]:
        while shown.count(": ") == asked:
          shown += os.read(terminal, 4096).decode()
        asked = shown.count(": ")
        os.write(terminal, answer.encode())
      status = child.wait()
      echo = "on" if termios.tcgetattr(end)[3] & termios.ECHO else "off"
      os.set_blocking(terminal, False)
      try:
        while True: shown += os.read(terminal, 4096).decode()
      except OSError:
        pass
      print(shown.replace("\\r\\n", "\\n") + f"exit {status}, echo {echo}")
      """
    let process = try ChildProcess(
      "/usr/bin/python3", ["-c", program, BuiltProducts.program("tagroute")] + answers,
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"],
      starter: starter)
    #expect(try await process.exit() == .exited(0))
    return String(await process.standardOutput().dropLast())
  }
}
