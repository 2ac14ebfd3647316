import Glibc
import TestKit
import Testing

@testable import MqttSystemTests

/// A process dies or stops at a chosen place. Each test prints its line of the table of faults, which
/// docs/development/mqtt-faults.md sums up.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct ProcessFaultTests {
  /// Gives two taps that the broker has. The station does not get the PUBACKs.
  private func publishWithoutAnswer(_ stage: Stage) async throws -> [SampleTap] {
    let mark = try await stage.proxy.command("hold")
    let taps = [SampleTap(2), SampleTap(3)]
    try await stage.station.give(taps)
    try await stage.proxy.events("held ", count: 2, after: mark)
    return taps
  }

  @Test(arguments: [false, true])
  func `tagroute-mqtt is killed between PUBLISH and PUBACK`(withAgent: Bool) async throws {
    let stage = try await Stage()
    try await stage.start()
    let (first, last) = (SampleTap(1), SampleTap(4))
    try await stage.give(first)
    try await stage.isLive(first)
    let pending = try await publishWithoutAnswer(stage)
    if withAgent { try await stage.station.killAgent() }
    try await stage.station.endMqtt()
    try await stage.referee.message { $0.topic == "tagroute/desk/state" && $0.text == "offline" }
    try await stage.proxy.command("release")
    if withAgent { try await stage.station.startAgent() }
    try await stage.startMqtt()
    try await stage.give(last)
    let row = try await stage.check(
      "`kill -9` of tagroute-mqtt\(withAgent ? " and the agent" : "") before PUBACK", [first] + pending + [last])
    // Only the broker knows that it had them, so both are sent again.
    #expect(row.duplicates >= 2)
  }

  @Test func `the agent is killed between PUBLISH and PUBACK`() async throws {
    let stage = try await Stage()
    try await stage.start()
    let (first, last) = (SampleTap(1), SampleTap(4))
    try await stage.give(first)
    try await stage.isLive(first)
    let pending = try await publishWithoutAnswer(stage)
    try await stage.station.killAgent()
    try await stage.proxy.command("release")
    // tagroute-mqtt has the PUBACK, and no agent to report it to.
    try await stage.referee.taps(pending.map(\.id))
    try await stage.station.startAgent()
    for tap in pending { try await stage.isLive(tap) }
    try await stage.give(last)
    let row = try await stage.check("`kill -9` of the agent before PUBACK", [first] + pending + [last])
    #expect(row.duplicates == 0 && row.liveDuplicates == 0)
  }

  @Test(arguments: [false, true])
  func `the broker is killed between PUBLISH and PUBACK`(isWiped: Bool) async throws {
    let stage = try await Stage()
    try await stage.start()
    let (first, meanwhile, last) = (SampleTap(1), SampleTap(4), SampleTap(5))
    try await stage.give(first)
    try await stage.isLive(first)
    let pending = try await publishWithoutAnswer(stage)
    try await stage.referee.taps(pending.map(\.id))
    let mark = await stage.referee.mark()
    try await stage.broker.kill(wipe: isWiped)
    // The referee comes first: a broker that has lost its storage has no message for a later subscriber.
    try await stage.proxy.command("shut")
    try await stage.proxy.command("release")
    try await stage.give(meanwhile)
    try await stage.broker.start()
    try await stage.referee.subscribed(after: mark)
    try await stage.proxy.command("open")
    try await stage.station.isConnected()
    try await stage.give(last)
    try await stage.check(
      "`kill -9` of the broker before PUBACK" + (isWiped ? ", its storage wiped" : ""),
      [first] + pending + [meanwhile, last])
    let later = try await MosquittoSubscriber("later", on: stage.broker.socket)
    try await later.message { $0.isRetained && $0.topic == "tagroute/desk/state" && $0.text == "online" }
  }

  @Test func `a broker that was stopped gets an old tap in the log and not on the live topic`() async throws {
    let clock = try StationClock()
    let stage = try await Stage(settings: ["LiveSeconds=600"], options: clock.options)
    try await stage.start()
    let first = SampleTap(1)
    try await stage.give(first)
    try await stage.isLive(first)
    let mark = await stage.proxy.mark()
    await stage.broker.signal(SIGSTOP)
    let stale = SampleTap(2)
    try await stage.give(stale)
    try await stage.proxy.event("publish ", after: mark)
    try clock.set(601)
    await stage.broker.signal(SIGCONT)
    let last = SampleTap(3, age: .seconds(-601))
    try await stage.give(last)
    try await stage.check("SIGSTOP of the broker until the tap was stale", [first, stale, last], live: [first, last])
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount"))
  func `taps that a full disk cannot store are sent`() async throws {
    let stage = try await Stage()
    let state = stage.station.installation.directory.file("state/tagroute")
    mkdir(state, 0o700)
    let mounted = try await ChildProcess.run("/bin/mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", state])
    try #require(mounted.status == .exited(0), "\(mounted.log)")
    atEndOfTest { _ = try await ChildProcess.run("/bin/umount", ["-l", state]) }
    try await stage.proxy.command("shut")
    try await stage.start(connected: false)
    let taps = (1...40).map { SampleTap($0, padding: 7000) }
    try await stage.station.give(taps)
    let agent = try #require(await stage.station.installation.agent)
    try await agent.line(containing: "kept in memory until it can")
    try await stage.proxy.command("open")
    let last = SampleTap(41)
    try await stage.give(last)
    try await stage.check("full disk", taps + [last])
    let payloads = try await stage.referee.messages().compactMap(\.tap)
    #expect(payloads.contains { $0.sequence == 0 } && payloads.contains { $0.sequence > 0 })
  }
}
