import Bus
import Dispatch
import Routing
import TestKit
import Testing

@testable import Agent
@testable import AgentTests
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
    await rig.service.desk.show(left)
    #expect(await rig.service.desk.policy.onScreenInOrder == [tapID(2), tapID(4)])
    try await rig.bus.stop()
  }

  @Test func `a tap that was dismissed and shown again leaves the screen when it is dismissed again`() async throws {
    try await rig.receive(1...1, handler: "x.desktop")
    try await rig.inbox.move(tapID(1), to: .dismissed)
    try await rig.service.desk.showAgain(tapID(1))
    let shown = try await rig.server.next()
    await #expect(throws: BusError.self) { try await rig.service.interface.dismiss(tapID(1)) }
    #expect(try await rig.server.nextClosed() == shown.id)
    try await rig.bus.stop()
  }
}

/// A session that starts before its desktop entries can be read, for example because of a slow disk or a file system
/// that does not answer.
@Suite(.timeLimit(.minutes(5))) struct LateHandlersTests {
  @Test func `the agent does not wait indefinitely for desktop entries, and routes shown taps again with them`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let file = try directory.write(
      "[Desktop Entry]\nType=Application\nName=Web\nExec=/bin/true %u\n", to: "web.desktop")
    let web = Application(desktopID: "web.desktop", name: "Web", file: file, origin: .system)
    // Holds the thread that reads the handlers.
    let gate = DispatchSemaphore(value: 0)
    let clock = RecordingClock()
    let rig = try await ServiceRig(
      clock: clock,
      defaultApplication: { scheme in
        gate.wait()
        gate.signal()
        return scheme == "https" ? web : nil
      })
    let (server, service) = (rig.server, rig.service)
    try await rig.receive(1...2)
    try await rig.inbox.move(tapID(2), to: .opening, receiver: TapReceiver(handler: "web.desktop"))

    // If the service waited for the entries, this call would not return.
    await service.start()
    #expect(clock.pauses.first == .seconds(5))
    try await service.desk.tagRead(tapValues(3, message: try uriMessage("https://menu.example.com/3")))
    var shown: [String: String] = [:]
    for _ in 1...3 {
      let next = try await server.next()
      shown[String(next.body.prefix(18))] = next.summary
    }
    #expect(
      shown == [
        "menu.example.com/1": "No app opens this link", "menu.example.com/2": "No app opens this link",
        "menu.example.com/3": "No app opens this link",
      ])

    gate.signal()
    shown = [:]
    for _ in 1...3 {
      let next = try await server.next()
      shown[String(next.body.prefix(18))] = next.summary
      #expect(next.replaces == 0)
    }
    #expect(
      shown == [
        "menu.example.com/1": "Open in Web", "menu.example.com/2": "May have been opened in Web",
        "menu.example.com/3": "Open in Web",
      ])
    try await rig.bus.stop()
  }
}
