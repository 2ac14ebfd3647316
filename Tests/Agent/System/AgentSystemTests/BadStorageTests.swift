import Bus
import Glibc
import TestKit
import Testing

@testable import AgentTests

/// The storage for taps is full, damaged or in use by another process. History is lost and the loss is reported, but
/// the next tap still works.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct BadStorageTests {
  private func proveThatTapsWork(_ rig: AgentRig, _ server: NotificationServerStandIn, from first: Int = 1) async throws
  {
    for number in first...(first + 3) {
      let link = "https://menu.example.com/\(number)?" + String(repeating: "x", count: 7000)
      try await rig.daemon.give(tapValues(number, message: try uriMessage(link)))
      try await server.click(try await server.next())
      #expect(try await rig.handler.next().uri == link)
    }
  }

  private func give(_ number: Int, to rig: AgentRig) async throws {
    try await rig.daemon.give(tapValues(number, message: try uriMessage("https://menu.example.com/\(number)")))
  }

  /// Makes the agent retry the file, which it otherwise does each hour.
  private func lookAgain(_ rig: AgentRig) async throws {
    _ = try await rig.call("Clear", [.dictionary(["ids": .strings([])])])
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount"))
  func `taps still work when the disk is full, and are saved when it has room`() async throws {
    let rig = try await AgentRig()
    let state = rig.installation.directory.file("state/tagroute")
    mkdir(state, 0o700)
    let mounted = try await ChildProcess.run("/bin/mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", state])
    try #require(mounted.status == .exited(0), "\(mounted.log)")
    let server = try await rig.startServer()
    let agent = try await rig.startAgent()
    try await give(1, to: rig)
    let first = try await server.next()
    try await agent.line(containing: "tap \(tapID(1)) is shown")
    #expect(await !agent.log().contains { $0.contains("kept in memory") })
    try await proveThatTapsWork(rig, server, from: 10)
    try await proveThatTapsWork(rig, server, from: 20)
    let line = try await agent.line(containing: "kept in memory until it can")
    #expect(line.hasPrefix("<3>") && line.contains(state))
    // The file still says that the tap is shown; only memory has the dismissal.
    try await server.close(first, reason: 2)
    try await agent.line(containing: "tap \(tapID(1)) is dismissed")

    let freed = try await ChildProcess.run("/bin/mount", ["-o", "remount,size=16m", state])
    try #require(freed.status == .exited(0), "\(freed.log)")
    try await lookAgain(rig)
    try await agent.line(containing: "can be written again")
    try await rig.restartAgent()
    #expect(try await rig.state(1) == "dismissed")
    for number in Array(10...13) + Array(20...23) { #expect(try await rig.state(number) == "delivered") }
    #expect(await server.onScreen.isEmpty)
    await rig.installation.stop()
    _ = try await ChildProcess.run("/bin/umount", ["-l", state])
  }

  /// Replaces the directory of the inbox by a file.
  private func hide(_ rig: AgentRig) throws {
    let state = rig.installation.directory.file("state/tagroute")
    try #require(rename(state, state + ".hidden") == 0)
    try rig.installation.directory.write("", to: "state/tagroute")
  }

  private func uncover(_ rig: AgentRig) throws {
    let state = rig.installation.directory.file("state/tagroute")
    try #require(unlink(state) == 0 && rename(state + ".hidden", state) == 0)
  }

  @Test func `waiting taps are shown when a file that could not be opened at the start can be opened`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    await rig.handler.set(.hangs)
    for number in 1...2 { try await give(number, to: rig) }
    let clicked = try await server.next()
    _ = try await server.next()
    for number in 1...2 { try await agent.line(containing: "tap \(tapID(number)) is shown") }
    try await server.click(clicked)
    _ = try await rig.handler.next()
    try await rig.killAgent()
    try hide(rig)

    let second = try await rig.startAgent()
    try await second.line(containing: "kept in memory until it can")
    try await give(3, to: rig)
    #expect(try await server.next().body == "menu.example.com/3")
    #expect(try await rig.state(2) == "")
    try uncover(rig)
    try await lookAgain(rig)
    let again = [try await server.next(), try await server.next()]
    #expect(again.map(\.summary) == ["May have been opened in Menu", "Open in Menu"])
    #expect(again.map(\.body).last == "menu.example.com/2")
    #expect(await server.onScreen.count == 3)
    #expect(try await [rig.state(1), rig.state(2)] == ["failed", "shown"])
  }

  @Test func `finished taps in memory are saved when the agent ends`() async throws {
    let rig = try await AgentRig()
    mkdir(rig.installation.directory.file("state/tagroute"), 0o700)
    try hide(rig)
    let server = try await rig.startServer()
    let agent = try await rig.startAgent()
    try await proveThatTapsWork(rig, server)
    try await agent.line(containing: "tap \(tapID(4)) is delivered")
    try uncover(rig)
    try await agent.exit(after: SIGTERM)
    try await rig.startAgent()
    for number in 1...4 { #expect(try await rig.state(number) == "delivered") }
  }

  @Test func `taps still work with a damaged file`() async throws {
    let rig = try await AgentRig()
    mkdir(rig.installation.directory.file("state/tagroute"), 0o700)
    try rig.installation.directory.write(
      "not a database " + String(repeating: "x", count: 5000), to: "state/tagroute/inbox.sqlite")
    let server = try await rig.startServer()
    let agent = try await rig.startAgent()
    try await proveThatTapsWork(rig, server)
    #expect(try await agent.line(containing: "damaged").contains("a new one is created"))
  }

  @Test func `a file that the agent of another session bus uses is taken over when that agent ends`() async throws {
    let first = try await AgentRig()
    let second = try await AgentRig(environment: ["XDG_STATE_HOME": first.installation.directory.file("state")])
    let (server, other) = (try await first.startServer(), try await second.startServer())
    try await first.startAgent()
    let agent = try await second.startAgent()
    try await proveThatTapsWork(second, other)
    try await agent.line(containing: "in use by another process")
    try await first.daemon.give(tapValues(50, message: try uriMessage("https://menu.example.com/50")))
    #expect(try await server.next().body == "menu.example.com/50")
    let one = try await first.agent
    try await one.line(containing: "tap \(tapID(50)) is shown")

    try await first.killAgent()
    try await agent.line(containing: "can be written again")
    // The second agent shows the taps that the first one left, and keeps all of them.
    #expect(try await other.next().body == "menu.example.com/50")
    #expect(try await second.state(1) == "delivered")
    try await second.killAgent()
    try await second.startAgent()
    #expect(try await second.state(1) == "delivered")
    #expect(try await second.state(50) == "shown")
  }
}
