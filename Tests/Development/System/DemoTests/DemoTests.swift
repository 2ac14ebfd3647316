import Glibc
import Rig
import TagrouteClient
import Testing

@testable import Demo

/// What a demo that failed prints.
@Suite struct DemoLogsTests {
  private let logs: DemoLogs

  init() {
    var logs = DemoLogs()
    logs.add("tagrouted", ["<6>scanning", "<4>the reader is slow", "<3>the reader is gone"])
    logs.add("dunst", ["one", "two", "three", "four"])
    self.logs = logs
  }

  @Test func `only warnings and errors are printed`() {
    #expect(logs.warnings == ["tagrouted: the reader is slow", "tagrouted: the reader is gone"])
  }

  @Test func `only the last warnings are printed`() {
    var logs = DemoLogs()
    logs.add("tagrouted", (1...50).map { "<4>warning \($0)" })
    #expect(logs.warnings == (41...50).map { "tagrouted: warning \($0)" })
  }

  @Test func `an error has the last line of the log of its process`() {
    #expect(DemoLogs.line(for: RigError("Xvfb ended", log: ["starting", "no socket", ""])) == "Xvfb ended: no socket")
    #expect(DemoLogs.line(for: RigError("nothing is known")) == "nothing is known")
  }

  @Test func `the file has all lines`() throws {
    let path = try logs.store()
    defer { unlink(path) }
    let text = String(decoding: try readFile(path), as: UTF8.self)
    #expect(text.hasPrefix("== tagrouted\n<6>scanning\n"))
    #expect(text.hasSuffix("== dunst\none\ntwo\nthree\nfour\n"))
  }

  @Test(arguments: [
    ("dismissed", "", "run the demo again"), ("expired", "", "run the demo again"),
    ("failed", "no program", "(no program)"), ("failed", "", "(failed)"), ("delivered", "", "did not print"),
  ])
  func `the end of a tap is explained`(state: String, reason: String, words: String) {
    var tap = TapDescription()
    (tap.state, tap.stateReason) = (state, reason)
    #expect(Demo.failure(of: tap).contains(words))
  }
}

/// `tagroute demo` of the real program, in a prefix without the other programs and files that it needs.
@Suite(.timeLimit(.minutes(5))) struct DemoNeedsTests {
  /// A prefix with these programs in its `bin`, and a daemon that is none.
  private func install(_ programs: String...) throws -> TemporaryDirectory {
    let prefix = try TemporaryDirectory()
    for program in programs {
      try prefix.write(try readFile(BuiltProducts.program(program)), to: "bin/\(program)", mode: 0o755)
    }
    try prefix.write("#!/bin/sh\nexit 1\n", to: "libexec/tagrouted", mode: 0o755)
    return prefix
  }

  private func demo(
    _ prefix: TemporaryDirectory, _ arguments: [String], starter: String = #function
  ) async throws -> (status: ChildProcess.ExitStatus, log: [String]) {
    let result = try await ChildProcess.run(
      prefix.file("bin/tagroute"), ["demo"] + arguments, environment: ["PATH": "/usr/bin:/bin"], starter: starter)
    return (result.status, result.log)
  }

  @Test(arguments: [[], ["--pcsc"], ["--uri", "https://menu.example.com/"]])
  func `without the simulator demo says how to install it`(_ arguments: [String]) async throws {
    let prefix = try install("tagroute")
    let (status, log) = try await demo(prefix, arguments)
    #expect(status == .exited(1))
    #expect(
      log == [
        "tagroute: demo needs tagroute-simulator, which is not installed: sudo Packaging/install PREFIX=\(prefix.path) "
          + "COMPONENT=simulator; in the source tree of Tagroute"
      ])
  }

  @Test func `the sample app is looked up in the prefix of the program`() async throws {
    let prefix = try install("tagroute", "tagroute-simulator")
    let (status, log) = try await demo(prefix, [])
    #expect(status == .exited(1))
    #expect(
      log.first?.hasPrefix(
        "tagroute: demo: the sample app is missing: \(prefix.path)/share/tagroute/examples/org.example.Menu.desktop: No such file"
      )
        == true, "\(log)")
    let elsewhere = try await demo(prefix, ["--examples", "/nonexistent"])
    #expect(elsewhere.log.first?.contains(" /nonexistent/org.example.Menu.desktop: ") == true, "\(elsewhere.log)")
  }
}
