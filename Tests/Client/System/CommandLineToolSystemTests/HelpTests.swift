import Foundation
import Glibc
import TestKit
import Testing

/// The help of the real program, its usage errors, and its colours.
@Suite(.timeLimit(.minutes(5))) struct HelpTests {
  private func run(
    _ arguments: [String], starter: String = #function
  ) async throws -> (status: ChildProcess.ExitStatus, output: String, log: [String]) {
    let result = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), arguments,
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"], starter: starter)
    return (result.status, result.output, result.log)
  }

  @Test func `each command explains itself, and its usage errors name that help`() async throws {
    // Tabs separate the columns: the form, the option, its argument, the help.
    let rows = try await run(["--print-options"]).output.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
    let forms = rows.filter { !$0[0].isEmpty && $0[1].isEmpty }.map { $0[0].split(separator: " ").map(String.init) }
    #expect(forms.count > 20 && forms.contains(["inbox", "show"]) && forms.contains(["help"]))
    for form in forms {
      let help = try await run(["help"] + form)
      #expect(help.status == .exited(0) && help.output.hasPrefix("Usage: tagroute \(form[0])"), "\(form)")
      #expect(try await run(form + ["--help"]).output == help.output, "\(form)")
      let wrong = try await run(form + ["--nonsense"])
      #expect(wrong.status == .exited(64) && wrong.output.isEmpty)
      #expect(
        wrong.log == [
          "tagroute: \(form.joined(separator: " ")) has no option --nonsense; see tagroute \(form[0]) --help"
        ])
    }
  }

  @Test func `help without a command lists the commands`() async throws {
    let overview = try await run(["--help"])
    #expect(overview.status == .exited(0) && overview.output.hasPrefix("Usage: tagroute COMMAND"))
    for words in [["help"], ["-h"], ["--json", "--help"]] {
      #expect(try await run(words).output == overview.output, "\(words)")
    }
    let wrong = try await run(["stauts"])
    #expect(wrong.status == .exited(64))
    #expect(wrong.log == ["tagroute: there is no command stauts: did you mean status? See tagroute --help"])
  }

  @Test func `a terminal shows the place of a mistake in red, unless the user wants no colour`() async throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write("[Rule a]\nUID=zz\nIgnore=yes\n", to: "a.conf")
    #expect(chmod(file, 0o600) == 0)
    let place = "\(file):2"
    #expect(try await shown(["rules", "--check", file], ["TERM": "xterm"]).hasPrefix("\u{1B}[31m\(place)\u{1B}[m: "))
    for environment in [["TERM": "xterm", "NO_COLOR": "1"], ["TERM": "dumb"]] {
      #expect(try await shown(["rules", "--check", file], environment).hasPrefix("\(place): "))
    }
    let json = try await shown(["rules", "--check", file, "--json"], ["TERM": "xterm"])
    #expect(json.hasPrefix("[") && !json.contains("\u{1B}"))
    #expect(try await run(["rules", "--check", file]).output.hasPrefix("\(place): "))
  }

  /// What the program prints on a terminal, which Python opens.
  private func shown(
    _ arguments: [String], _ environment: [String: String], starter: String = #function
  ) async throws -> String {
    let program = """
      import os, pty, subprocess, sys
      terminal, end = pty.openpty()
      subprocess.run(sys.argv[1:], stdin=end, stdout=end, stderr=end)
      os.set_blocking(terminal, False)
      print(os.read(terminal, 65536).decode().replace("\\r\\n", "\\n"), end="")
      """
    let result = try await ChildProcess.run(
      "/usr/bin/python3", ["-c", program, BuiltProducts.program("tagroute")] + arguments,
      environment: environment.merging(["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]) { first, _ in first },
      starter: starter)
    #expect(result.status == .exited(0), "\(result.log)")
    return result.output
  }
}
