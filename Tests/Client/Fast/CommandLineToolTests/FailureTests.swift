import Bus
import Names
import Testing

@testable import CommandLineTool

/// The exit code and the message for an error of the daemon.
@Suite struct FailureTests {
  @Test(
    arguments: [
      (Names.Errors.tooMany, 75), (Names.Errors.notPossible, 75), (Names.Errors.notAuthorized, 77),
      (Names.Errors.invalidArgument, 64), (Names.Errors.failed, 1), (BusError.Name.notSupported, 69),
      (BusError.Name.nameHasNoOwner, 69), (BusError.Name.unknownMethod, 69), (Names.Errors.noSuchTap, 66),
    ] as [(String, Int32)])
  func `an error of the daemon has an exit code`(error: String, code: Int32) {
    let failure = Failure(BusError(name: error, message: "not now"), from: .daemon)
    #expect(failure.exitCode == code)
    #expect(failure.message.contains("not now") == (error != BusError.Name.nameHasNoOwner))
  }

  @Test(arguments: [
    ("the tag is read-only", "the tag is read-only"), ("it was taken away", "the tag: it was taken away"),
    ("the message does not fit", "the message does not fit"), ("damaged: no length", "the tag: damaged: no length"),
  ])
  func `an error about a tag names the tag once`(reason: String, message: String) {
    #expect(Failure(tag: BusError(name: Names.Errors.refused, message: reason)).message == message)
  }

  @Test(arguments: [
    (["--json", "write", "--text", "a b", "--count=2"], "tagroute --json write --format --text 'a b' --count=2"),
    (["read"], "tagroute write --format"),
  ])
  func `the command that formats a tag is that of the user`(words: [String], command: String) {
    #expect(Failure.formatting(words) == command)
  }
}

/// The messages about programs that still run an old version after an update.
@Suite struct RunningProgramTests {
  @Test func `the same or no version is not reported`() {
    #expect(RunningProgram.daemon.difference(version: Names.version) == nil)
    #expect(RunningProgram.agent.difference(version: "") == nil)
  }

  @Test func `a version that a peer sends cannot break the line`() {
    #expect(
      RunningProgram.agent.difference(version: "0.2.0")?.description == "tagroute-agent is version 0.2.0, this is 0.1.0"
    )
    for hostile in ["1\n2", "1 2", "\u{1B}[2J", "\u{202E}1", String(repeating: "1", count: 33)] {
      #expect(
        RunningProgram.daemon.difference(version: hostile)?.description == "tagrouted is version unknown, this is 0.1.0"
      )
    }
  }

  @Test(arguments: [
    ("0.0.9", RunningProgram.agent), ("0.0.10", .agent), ("0.1.1", .daemon), ("0.10.0", .daemon), ("1.0.0", .daemon),
    // Versions that cannot be compared, and the current version in other digits.
    ("0.0", nil), ("0.0.9.1", nil), ("-1.0.0", nil), ("0.0.99999999999999999999", nil), ("9.0.0-rc1", nil),
    ("\u{1B}[2J", nil), ("00.1.0", nil),
  ])
  func `the older program is found by its version numbers, and the message says to restart it`(
    version: String, older: RunningProgram?
  ) throws {
    let difference = try #require(RunningProgram.agent.difference(version: version))
    #expect(difference.older(beside: .daemon) == older)
    for hasSystemd in [true, false] {
      let notice = difference.notice(interfaceVersion: nil, to: .daemon, hasSystemd: hasSystemd)
      let remedy = older.map { "; for what is new: \($0.restart(hasSystemd: hasSystemd))" } ?? ""
      #expect(notice.hasSuffix("Tags are shown all the same\(remedy)"), "\(notice)")
    }
  }

  @Test func `the message names only commands that the system has`() {
    #expect(RunningProgram.daemon.restart(hasSystemd: true) == "sudo systemctl restart tagrouted.service")
    #expect(RunningProgram.agent.restart(hasSystemd: true) == "systemctl --user restart tagroute-agent.service")
    for program in [RunningProgram.daemon, .agent] {
      let words = program.restart(hasSystemd: false)
      #expect(words == "end \(program.rawValue) and start it again, in the way it was started")
    }
  }
}
