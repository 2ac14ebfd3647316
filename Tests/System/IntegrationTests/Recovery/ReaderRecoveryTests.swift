import Glibc
import TagrouteClient
import TestRig
import Testing

/// A reader process that dies or hangs, and a reader that is unplugged.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReaderRecoveryTests {
  @Test(arguments: [SIGKILL, SIGSTOP]) func `a reader process that dies or hangs is replaced`(signal: Int32)
    async throws
  {
    let (desktop, server) = try await Desktop.started(
      starter: "`a reader process that dies or hangs is replaced`_\(signal)")
    try await desktop.tap(1, isShownOn: server)

    let (daemon, reader) = (try await desktop.daemon, try await desktop.reader)
    let seen = await daemon.log().count
    reader.signal(signal)
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

  @Test func `a reader that is plugged in again reads tags`() async throws {
    let (desktop, server) = try await Desktop.started()
    try await desktop.place(try Tag(1))
    let shown = try await desktop.notification(on: server)
    let daemon = try await desktop.daemon
    try await desktop.remove()

    var seen = await daemon.log().count
    try await desktop.installation.simulate("unplug")
    try await desktop.status { $0.readers.first?.state != "scanning" && !$0.scanning }
    try await daemon.line(containing: "is absent", after: seen)
    seen = await daemon.log().count
    try await desktop.installation.simulate("plug")
    try await daemon.line(containing: Desktop.readerReady, after: seen)
    try await desktop.tap(2, isShownOn: server)
    try await server.click(shown)
    #expect(try await desktop.handed().message == Tag(1).message)
    // One process runs at a time, and none has failed. A process that is confined to one device ends, so that its
    // successor can open another device.
    #expect(try daemon.children().count == 1)
    #expect(!(await daemon.log().contains { $0.contains("process ended") }))
  }
}
