import Bus
import Presence
import Testing

@testable import Daemon

@Suite struct AgentRegistryTests {
  private var registry = AgentRegistry()

  @Test mutating func `each session has one agent`() {
    #expect(registry.register(":1.1", at: "/a", for: [Samples.alice])?.session == Samples.alice)
    #expect(registry.register(":1.2", at: "/a", for: [Samples.alice]) == nil)
    #expect(registry.register(":1.2", at: "/a", for: [Samples.bob])?.session == Samples.bob)
    #expect(registry.agent(of: Samples.alice)?.sender == ":1.1")
  }

  @Test mutating func `the second agent of a user serves the second session`() {
    let second = SessionKey(id: "3", uid: 1000)
    _ = registry.register(":1.1", at: "/a", for: [Samples.alice, second])
    #expect(registry.register(":1.2", at: "/a", for: [Samples.alice, second])?.session == second)
  }

  @Test mutating func `an agent that registers again keeps its session and its report`() {
    _ = registry.register(":1.1", at: "/a", for: [Samples.alice])
    _ = registry.report(":1.1", ["locked": true, "unknown-key": true])
    let again = registry.register(":1.1", at: "/b", for: [Samples.alice])
    #expect(again?.path == "/b")
    #expect(again?.report.locked == .yes)
    #expect(registry.agents.count == 1)
  }

  @Test mutating func `an agent that moves to another session keeps its report`() {
    _ = registry.register(":1.1", at: "/a", for: [Samples.alice])
    _ = registry.report(":1.1", ["display-off": true])
    let moved = registry.register(":1.1", at: "/a", for: [SessionKey(id: "9", uid: 1000)])
    #expect(moved?.report.displayOff == .yes)
    #expect(registry.agent(of: Samples.alice) == nil)
  }

  @Test mutating func `a session is free once its agent is gone`() {
    _ = registry.register(":1.1", at: "/a", for: [Samples.alice])
    #expect(registry.unregister(":1.1")?.session == Samples.alice)
    #expect(registry.unregister(":1.1") == nil)
    #expect(registry.register(":1.2", at: "/a", for: [Samples.alice]) != nil)
  }

  @Test mutating func `only a registered agent can report, and a report replaces the previous one completely`() {
    #expect(registry.report(":1.1", ["locked": true]) == nil)
    _ = registry.register(":1.1", at: "/a", for: [Samples.alice])
    _ = registry.report(":1.1", ["locked": true, "airplane-mode": true])
    #expect(registry.agent(named: ":1.1")?.report.airplaneMode == .yes)
    let report = registry.report(":1.1", ["camera": false])?.report
    #expect(report?.locked == .unknown)
    #expect(report?.airplaneMode == .unknown)
    #expect(report?.displayOff == .unknown)
    #expect(report?.camera == .no)
  }
}
