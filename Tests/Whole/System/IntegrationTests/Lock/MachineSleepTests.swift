import Glibc
import TagrouteClient
import TestKit
import Testing

/// A machine that goes to sleep, with the real programs: the field is off by then.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct MachineSleepTests {
  @Test func `the field is off when the machine goes to sleep`() async throws {
    let desktop = try await Desktop(scan: ["Sessions=logind"])
    let logind = try await LogindStandIn.start(
      on: desktop.systemBus, sessions: [LogindStandIn.Session(id: "2", uid: getuid())])
    let server = try await desktop.startWithServer()
    await logind.untilHeld(1)
    // While a tag rests, presence checks keep the field on.
    try await desktop.tap(1, isShownOn: server)
    try await logind.prepareForSleep(true)
    await logind.untilHeld(0)
    #expect(try await desktop.installation.simulate("counters").contains("field=off"))
    try await desktop.status { !$0.scanning && $0.suspendReasons == ["sleeping"] }
    try await logind.prepareForSleep(false)
    await logind.untilHeld(1)
    try await desktop.status(\.scanning)
    let log = try await desktop.daemon.notable()
    #expect(!log.contains { $0.contains("not waited for") })
  }

  @Test func `a reader process that hangs does not keep the machine awake`() async throws {
    let desktop = try await Desktop(scan: ["Sessions=logind"])
    let logind = try await LogindStandIn.start(
      on: desktop.systemBus, sessions: [LogindStandIn.Session(id: "2", uid: getuid())])
    try await desktop.start()
    await logind.untilHeld(1)
    try await desktop.status(\.scanning)
    let reader = try await desktop.reader
    reader.signal(SIGSTOP)
    try await logind.prepareForSleep(true)
    // The daemon kills the reader process or stops waiting for it. Either way the machine goes to sleep.
    await logind.untilHeld(0)
    try await logind.prepareForSleep(false)
    await logind.untilHeld(1)
    try await desktop.status(\.scanning)
  }
}
