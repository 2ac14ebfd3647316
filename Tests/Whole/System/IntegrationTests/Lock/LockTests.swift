import EventLoop
import Glibc
import TagrouteClient
import TestKit
import Testing

/// `Sessions=logind`: the daemon scans for the session at the seat, and only while it is unlocked.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LockTests {
  private static let session = LogindStandIn.Session(id: "2", uid: getuid())

  private func start(_ scan: String..., session: LogindStandIn.Session = Self.session, starter: String = #function)
    async throws -> (Desktop, LogindStandIn)
  {
    let desktop = try await Desktop(scan: ["Sessions=logind"] + scan, starter: starter)
    return (desktop, try await LogindStandIn.start(on: desktop.systemBus, sessions: [session]))
  }

  /// Announces a sleep and its end, while the session stays locked. A poll by mistake would happen before this
  /// returns.
  private func sleepAndWake(_ desktop: Desktop, _ logind: LogindStandIn) async throws {
    try await logind.prepareForSleep(true)
    try await desktop.status { $0.suspendReasons.contains("sleeping") }
    try await logind.prepareForSleep(false)
    try await desktop.status { $0.suspendReasons == ["session-locked"] }
  }

  @Test func `a lock turns the field off, and a tag waits for the unlock`() async throws {
    let (desktop, logind) = try await start()
    let server = try await desktop.startWithServer()
    try await desktop.tap(1, isShownOn: server)
    try await desktop.remove()

    try await logind.update("2") { $0.isLocked = true }
    try await desktop.status { !$0.scanning && $0.suspendReasons == ["session-locked"] }
    try await desktop.installation.simulate("counters reset")
    try await desktop.place(try Tag(2))
    try await sleepAndWake(desktop, logind)
    let counters = try await desktop.installation.simulate("counters")
    #expect(counters.hasPrefix("commands=0 exchanges=0 activation-frames=0"))
    #expect(counters.hasSuffix("field=off field-on-ms=0"))
    #expect(await server.all.count == 1)

    try await logind.update("2") { $0.isLocked = false }
    #expect(try await desktop.notification(on: server).body == Tag.text(2))
    try await desktop.tap(3, isShownOn: server)
    #expect(await server.all.count == 3)
  }

  @Test func `WhenLocked=hold holds a tap, and reads no tag before the first unlock`() async throws {
    var locked = Self.session
    locked.isLocked = true
    let (desktop, logind) = try await start("WhenLocked=hold", session: locked)
    let server = try await desktop.startWithServer()
    try await desktop.status { $0.suspendReasons == ["session-locked"] }
    try await desktop.installation.simulate("counters reset")
    try await desktop.place(try Tag(1))
    try await sleepAndWake(desktop, logind)
    #expect(try await desktop.installation.simulate("counters").hasSuffix("field=off field-on-ms=0"))
    try await desktop.installation.simulate("remove")

    try await logind.update("2") { $0.isLocked = false }
    try await desktop.status(\.scanning)
    let daemon = try await desktop.daemon
    try await logind.update("2") { $0.isLocked = true }
    try await daemon.line(containing: "and taps are held")
    try await desktop.place(try Tag(2))
    try await daemon.line(containing: "held until the session is unlocked")
    #expect(await server.all.isEmpty)
    try await logind.update("2") { $0.isLocked = false }
    try await server.click(try await desktop.notification(on: server))
    #expect(try await desktop.handed().message == Tag(2).message)
    #expect(await server.all.count == 1)
  }
}
