import Glibc
import TestRig
import Testing

/// A reader process that dies. What a hanging one and an unplugged reader cause is tested without the agent.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReaderRecoveryTests {
  @Test func `a reader process that dies is replaced`() async throws {
    let (desktop, server) = try await Desktop.started()
    try await desktop.tap(1, isShownOn: server)

    let (daemon, reader) = (try await desktop.daemon, try await desktop.reader)
    let seen = await daemon.log().count
    reader.signal(SIGKILL)
    try await daemon.line(containing: "the process of reader", after: seen)
    try await daemon.line(containing: Desktop.readerReady, after: seen)
    #expect(reader.isGone)
    let next = try #require(try daemon.children().first)
    #expect(next.identifier != reader.identifier)

    // The resting tag is not announced again. The next tag is, and then the first tag is a new tap.
    try await daemon.line(containing: "is ignored until it is removed", after: seen)
    for number in [2, 1] { try await desktop.tap(number, isShownOn: server) }
    #expect(await server.all.map(\.body) == [1, 2, 1].map(Tag.text))
    // The agent registered only once, so the daemon kept running.
    #expect(try await desktop.agent.log().count { $0.contains(Desktop.registered) } == 1)
  }
}
