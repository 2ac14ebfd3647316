import EventLoop
import Routing
import TestKit
import Testing

@testable import Handlers

@Suite(.timeLimit(.minutes(60))) struct LoudCommandTests {
  /// Two gigabytes on each stream, without a reader.
  @Test func `a program that prints gigabytes is neither held up nor stored`() async throws {
    let directory = try TemporaryDirectory()
    let folder = directory.path
    let program = try directory.write(
      """
      #!/bin/sh
      streams=$(readlink /proc/$$/fd/1 /proc/$$/fd/2)
      echo "$streams" > '\(folder)/report'
      head -c 2G /dev/zero && head -c 2G /dev/zero >&2 && echo printed >> '\(folder)/report'
      """, to: "prints", mode: 0o755)
    let file = RuleFile(Array("[Rule a]\nText=a\nRun=\(program);\n".utf8), file: "f", origin: .user)
    let rule = try #require(file.rules.first, "\(file.problems)")
    let command = try #require(TapCommand(rule, uri: nil))
    let launcher = Launcher(connection: nil, environment: ["PATH": "/usr/bin:/bin"], on: EventLoop(label: "test"))
    #expect(await launcher.run(command, message: [1]).outcome == .delivered)
    await launcher.allEnded()
    let text = String(decoding: try readFile(directory.file("report")), as: UTF8.self)
    #expect(text == "/dev/null\n/dev/null\nprinted\n")
  }
}
