import Testing

@testable import Daemon

@Suite struct DaemonOptionsTests {
  @Test func `the options name a configuration file and a mode`() throws {
    #expect(try DaemonOptions([]).configuration == nil)
    #expect(try DaemonOptions(["--config", "/a"]).configuration == "/a")
    #expect(try DaemonOptions(["--config=/a"]).configuration == "/a")
    #expect(try DaemonOptions(["--check", "--config", "/a"]).mode == .check)
    #expect(try DaemonOptions(["--help"]).mode == .showHelp)
    #expect(try DaemonOptions(["--version"]).mode == .showVersion)
  }

  @Test(arguments: [
    (["--config"], "--config needs a file: --config FILE"),
    (["--config="], "unknown argument --config=: see tagrouted --help"),
    (["-x"], "unknown argument -x: see tagrouted --help"),
    (["run"], "unknown argument run: see tagrouted --help"),
  ])
  func `a wrong option is reported with a hint`(arguments: [String], expected: String) {
    let mistake = #expect(throws: DaemonOptions.Mistake.self) { try DaemonOptions(arguments) }
    #expect(mistake?.description == expected)
  }
}
