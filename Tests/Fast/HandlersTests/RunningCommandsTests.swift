import Testing

@testable import Handlers

@Suite struct RunningCommandsTests {
  @Test func `the programs of a rule and of all rules are limited, and an end makes room`() {
    var commands = RunningCommands()
    for rule in ["a", "b", "c", "d"] {
      for _ in 0..<RunningCommands.mostOfRule { #expect(commands.begin(rule) == nil) }
      #expect(commands.begin(rule)?.hasPrefix("16 programs of this rule still run") == true)
    }
    #expect(commands.begin("e")?.hasPrefix("64 programs of rules still run") == true)
    commands.end("a")
    #expect(commands.begin("e") == nil && commands.begin("a") != nil)
    commands.end("e")
    #expect(commands.begin("a") == nil)
    // More ends than programs.
    commands.end("f")
    #expect(commands.begin("f") != nil)
  }
}
