import Testing

@testable import Handlers

@Suite struct RunningCommandsTests {
  @Test func `the programs of an owner and of all are limited, and an end makes room`() {
    var commands = RunningCommands()
    for name in ["a", "b"] {
      for owner in [RunningCommands.Owner.rule(name), .application(name)] {
        for _ in 0..<RunningCommands.mostOfOwner { #expect(commands.begin(owner) == nil) }
      }
      #expect(commands.begin(.rule(name))?.hasPrefix("16 programs of this rule still run") == true)
      #expect(commands.begin(.application(name))?.hasPrefix("16 programs of this app still run") == true)
    }
    #expect(commands.begin(.rule("e"))?.hasPrefix("64 programs of rules still run") == true)
    commands.end(.rule("a"))
    #expect(commands.begin(.application("e")) == nil && commands.begin(.rule("a")) != nil)
    commands.end(.application("e"))
    #expect(commands.begin(.rule("a")) == nil)
    // More ends than programs.
    commands.end(.rule("f"))
    #expect(commands.begin(.rule("f")) != nil)
  }
}
