import Testing

@testable import Agent

struct AgentArgumentsTests {
  @Test(
    arguments: [
      ([], AgentArguments.run(configuration: nil)),
      (["--config", "/etc/x"], .run(configuration: "/etc/x")),
      (["--config=/etc/x"], .run(configuration: "/etc/x")),
      (["--headless"], .run(configuration: nil, isHeadless: true)),
      (["--headless", "--config", "/etc/x"], .run(configuration: "/etc/x", isHeadless: true)),
      (["--bus-name", "org.example.Agent"], .run(configuration: nil, busName: "org.example.Agent")),
      (["--check"], .check(configuration: nil)),
      (["--check", "--headless"], .check(configuration: nil)),
      (["--check", "--config=/etc/x"], .check(configuration: "/etc/x")),
      (["--config"], .mistake("--config needs a file")),
      (["--bus-name"], .mistake("--bus-name needs a name")),
      (["--verbose"], .mistake("unknown argument --verbose")),
      (["x"], .mistake("unknown argument x")),
      (["--version"], .print("tagroute-agent 0.1.0")),
      (["--help"], .print(AgentArguments.help)),
      (["--config", "/etc/x", "-h"], .print(AgentArguments.help)),
    ] as [([String], AgentArguments)])
  func `the command line selects the action`(line: [String], expected: AgentArguments) {
    #expect(AgentArguments(line) == expected)
  }
}
