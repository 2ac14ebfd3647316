import Bus
import TestKit
import Testing

@testable import AgentTests

@testable import Agent
@testable import Inbox

/// How the service handles taps that have left the inbox or the screen, without a daemon.
@Suite(.timeLimit(.minutes(5))) struct AgentServiceTests {
  private let rig: ServiceRig

  init() async throws {
    rig = try await ServiceRig()
    await rig.service.start()
  }

  @Test func `removed and finished taps of an earlier run do not keep other taps from the screen`()
    async throws
  {
    try await rig.receive(1...4, handler: "x.desktop")
    let left = await rig.inbox.resume(maximum: 10)
    _ = try await rig.inbox.clear(InboxClearing(ids: [tapID(1)], onScreen: [tapID(1)], includesOnScreen: true))
    for state in [TapState.opening, .delivered] { try await rig.inbox.move(tapID(3), to: state) }
    await rig.service.show(left)
    #expect(await rig.service.policy.onScreenInOrder == [tapID(2), tapID(4)])
    try await rig.bus.stop()
  }

  @Test func `a tap that was dismissed and shown again leaves the screen when it is dismissed again`() async throws {
    try await rig.receive(1...1, handler: "x.desktop")
    try await rig.inbox.move(tapID(1), to: .dismissed)
    try await rig.service.showAgain(tapID(1))
    let shown = try await rig.server.next()
    await #expect(throws: BusError.self) { try await rig.service.dismiss(tapID(1)) }
    #expect(try await rig.server.nextClosed() == shown.id)
    try await rig.bus.stop()
  }
}
