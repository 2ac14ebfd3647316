import Bus
import Glibc
import TestKit
import Testing

@testable import AgentSystemTests
@testable import AgentTests

/// More taps than a user can answer. Memory, screen and file stay within their limits, and the taps within the limits
/// are kept.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct FloodTests {
  /// The anonymous memory of the agent, in KiB.
  private func memory(of process: ChildProcess) throws -> Int {
    let descriptor = open("/proc/\(process.identifier)/status", O_RDONLY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16384)
    let count = read(descriptor, &bytes, bytes.count)
    let line = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n").first {
      $0.hasPrefix("RssAnon:")
    }
    return try #require(line.flatMap { Int($0.filter(\.isWholeNumber)) })
  }

  /// Gives taps as the daemon does, sixteen at a time.
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
  func `ten thousand unanswered taps in a row stay within the limits`(doesServerAnswer: Bool) async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent(environment: ["TAGROUTE_LOG": "notice"])
    let agent = try await rig.agent
    // More taps than the inbox keeps.
    try await give(1..<601, to: rig)
    if !doesServerAnswer { await server.hold() }
    let before = try memory(of: agent)
    try await give(601..<5301, to: rig)
    let half = try memory(of: agent)
    try await give(5301..<9981, to: rig)
    // The order of taps that are given at the same time is unknown, so the last ones are given one by one.
    for number in 9981...10_000 { try await give(number..<number + 1, to: rig) }
    let after = try memory(of: agent)
    // The second half reuses the memory that the first half allocated.
    let words: Comment = "\(before) KiB before, \(half) KiB after one half, \(after) KiB after the other"
    #expect(half - before < 1024 && after - half < 512, words)

    await server.answer()
    let states = try await states(rig)
    #expect(states.values.reduce(0, +) == 500)
    #expect((states["shown"] ?? 0) + (states["received"] ?? 0) == 20, "\(states)")
    #expect(states["expired"] == 480, "\(states)")
    // In the end the newest taps are on the screen, each once.
    for number in 9981...10_000 {
      while try await rig.state(number) != "shown" { try Task.checkCancellation() }
    }
    while await server.onScreen.count > 20 { _ = try await server.nextClosed() }
    #expect(Set(await server.onScreen.values.map(\.body)) == Set((9981...10_000).map { "menu.example.com/\($0)" }))
    // Besides these twenty, some notifications are being opened or closed.
    let most = await server.mostOnScreen
    #expect(most <= 20 + 2 * 32, "\(most) on the screen at once")
  }

  @Test func `a tag that is read sixty times is on the screen once and in the inbox sixty times`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    for number in 1...60 {
      try await rig.daemon.give(
        tapValues(number, message: try uriMessage("https://menu.example.com/1"), uid: [4, 1, 2, 3, 4, 5, 6]))
    }
    try await agent.line(containing: "tap \(tapID(60)) is shown")
    #expect(await server.onScreen.count == 1)
    #expect(await server.mostOnScreen == 1)
    #expect(try await states(rig) == ["shown": 1, "dismissed": 59])
    #expect(try await rig.tap(59)["state-reason-code"] == .string("tapped-again"))
  }
}
