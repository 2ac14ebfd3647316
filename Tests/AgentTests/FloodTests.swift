import Bus
import Glibc
import TestSupport
import Testing

/// More taps than anybody can answer: the memory, the screen and the file stay within their bounds, and nothing is lost that they hold.
@Suite(.timeLimit(.minutes(15)))
struct FloodTests {
  /// What the agent keeps in memory, in KiB.
  private func memory(of process: ChildProcess) throws -> Int {
    let descriptor = open("/proc/\(process.identifier)/status", O_RDONLY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16384)
    let count = read(descriptor, &bytes, bytes.count)
    let line = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n").first {
      $0.hasPrefix("VmRSS:")
    }
    return try #require(line.flatMap { Int($0.filter(\.isWholeNumber)) })
  }

  /// Gives taps as the daemon does, sixteen at once.
  private func give(_ numbers: Range<Int>, to rig: AgentRig, uid: [UInt8]? = nil) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in numbers {
        if number >= numbers.lowerBound + 16 { try await group.next() }
        let message = try uriMessage("https://menu.example.com/\(number)")
        group.addTask { try await rig.daemon.give(tapValues(number, message: message, uid: uid)) }
      }
      try await group.waitForAll()
    }
  }

  private func states(_ rig: AgentRig) async throws -> [String: Int] {
    let reply = try await rig.call("ListInbox", [.dictionary(["limit": .uint32(1000)])])
    guard case .array(_, let taps)? = reply.first else { return [:] }
    return taps.reduce(into: [:]) { $0[$1.asDictionary?["state"]?.asString ?? "", default: 0] += 1 }
  }

  @Test(arguments: [true, false])
  func `ten thousand taps in a row that nobody answers`(doesServerAnswer: Bool) async throws {
    let rig = try await AgentRig(environment: ["TAGROUTE_LOG": "notice"])
    let server = try await rig.startServer()
    let agent = try await rig.startAgent()
    // Past the number that the inbox keeps.
    try await give(1..<601, to: rig)
    if !doesServerAnswer { await server.hold() }
    let before = try memory(of: agent)
    try await give(601..<9981, to: rig)
    // Of those that are given at once nobody knows which one comes last.
    for number in 9981...10_000 { try await give(number..<number + 1, to: rig) }
    let after = try memory(of: agent)
    #expect(after - before < 32 * 1024, "\(before) KiB before, \(after) KiB after")

    await server.answer()
    let states = try await states(rig)
    #expect(states.values.reduce(0, +) == 500)
    #expect((states["shown"] ?? 0) + (states["received"] ?? 0) == 20, "\(states)")
    #expect(states["expired"] == 480, "\(states)")
    // What is up settles on the newest, each once.
    for number in 9981...10_000 {
      while try await rig.state(number) != "shown" { try Task.checkCancellation() }
    }
    while await server.onScreen.count > 20 { _ = await server.nextClosed() }
    #expect(Set(await server.onScreen.values.map(\.body)) == Set((9981...10_000).map { "menu.example.com/\($0)" }))
    await rig.installation.stop()
  }

  @Test func `the same tag sixty times is on the screen once, and sixty times in the inbox`() async throws {
    let rig = try await AgentRig()
    let server = try await rig.startServer()
    let agent = try await rig.startAgent()
    for number in 1...60 {
      try await rig.daemon.give(
        tapValues(number, message: try uriMessage("https://menu.example.com/1"), uid: [4, 1, 2, 3, 4, 5, 6]))
    }
    try await agent.line(containing: "tap \(tapID(60)) is shown")
    #expect(await server.onScreen.count == 1)
    #expect(try await states(rig) == ["shown": 1, "dismissed": 59])
    #expect(try await rig.tap(59)["state-reason-code"] == .string("tapped-again"))
    await rig.installation.stop()
  }
}

/// A place to keep taps that is full, damaged, or somebody else's: history is lost, and said to be, never the next tap.
@Suite(.timeLimit(.minutes(5)))
struct BadStorageTests {
  private func proveThatTapsWork(_ rig: AgentRig, _ server: NotificationServerStandIn, from first: Int = 1) async throws
  {
    for number in first...(first + 3) {
      let link = "https://menu.example.com/\(number)?" + String(repeating: "x", count: 7000)
      try await rig.daemon.give(tapValues(number, message: try uriMessage(link)))
      try await server.click(await server.next())
      #expect(await rig.handler.next().uri == link)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount"))
  func `a disk that is full from some tap on`() async throws {
    let rig = try await AgentRig()
    let state = rig.installation.directory.file("state/tagroute")
    mkdir(state, 0o700)
    let mounted = try await ChildProcess.run("/bin/mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", state])
    try #require(mounted.status == .exited(0), "\(mounted.log)")
    let server = try await rig.startServer()
    let agent = try await rig.startAgent()
    try await proveThatTapsWork(rig, server)
    try await proveThatTapsWork(rig, server, from: 10)
    let line = try await agent.line(containing: "kept in memory until it can")
    #expect(line.hasPrefix("<3>") && line.contains(state))
    await rig.installation.stop()
    _ = try await ChildProcess.run("/bin/umount", ["-l", state])
  }

  @Test func `a file that is damaged`() async throws {
    let rig = try await AgentRig()
    mkdir(rig.installation.directory.file("state/tagroute"), 0o700)
    try rig.installation.directory.write(
      "not a database " + String(repeating: "x", count: 5000), to: "state/tagroute/inbox.sqlite")
    let server = try await rig.startServer()
    let agent = try await rig.startAgent()
    try await proveThatTapsWork(rig, server)
    #expect(try await agent.line(containing: "damaged").contains("a new one is begun"))
    await rig.installation.stop()
  }

  @Test func `a file that the agent of another session bus writes, until that is gone`() async throws {
    let first = try await AgentRig()
    let second = try await AgentRig(
      environment: ["XDG_STATE_HOME": first.installation.directory.file("state")])
    let (server, other) = (try await first.startServer(), try await second.startServer())
    try await first.startAgent()
    let agent = try await second.startAgent()
    try await proveThatTapsWork(second, other)
    try await agent.line(containing: "in use by another process")
    try await first.daemon.give(tapValues(50, message: try uriMessage("https://menu.example.com/50")))
    #expect(await server.next().body == "menu.example.com/50")
    let one = try #require(await first.installation.agent)
    try await one.line(containing: "tap \(tapID(50)) is shown")

    try await first.killAgent()
    try await agent.line(containing: "can be written again")
    // What the first has left is the second's to show, and all of it is kept.
    #expect(await other.next().body == "menu.example.com/50")
    #expect(try await second.state(1) == "delivered")
    try await second.killAgent()
    try await second.startAgent()
    #expect(try await second.state(1) == "delivered")
    #expect(try await second.state(50) != "")
    await first.installation.stop()
    await second.installation.stop()
  }
}
