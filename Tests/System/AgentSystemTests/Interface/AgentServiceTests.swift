import Bus
import Configuration
import EventLoop
import Handlers
import Journal
import Routing
import TestRig
import Testing
@testable import AgentTests

@testable import Agent
@testable import Inbox

/// How the service handles taps that have left the inbox or the screen, without a daemon.
@Suite(.timeLimit(.minutes(5))) struct AgentServiceTests {
  private let bus: PrivateBus
  private let session: Connection
  private let server: NotificationServerStandIn
  private let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
  private let service: AgentService

  init() async throws {
    bus = try await PrivateBus.start()
    session = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "agent"))
    server = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    let handlers = HandlerRegistry(
      directories: DataDirectories(user: nil, system: []), defaultApplication: { _ in nil }, on: session.loop)
    service = AgentService(
      session: session, inbox: inbox, configuration: AgentConfiguration(), now: { sampleTime },
      clock: ContinuousClock(), handlers: handlers, log: Log(threshold: .error, prefixed: false),
      declareLocked: { _, _ in })
    await service.start()
  }

  private func receive(_ numbers: ClosedRange<Int>) async throws {
    for number in numbers {
      let values = tapValues(number, message: try uriMessage("https://menu.example.com/\(number)"))
      let reading = try TagReading(values, now: sampleTime)
      _ = await inbox.receive(
        Tap(
          id: reading.id, time: reading.time, message: reading.message, technology: reading.technology,
          uid: reading.uid, uri: "https://menu.example.com/\(number)", title: "", handler: "x.desktop"))
    }
  }

  @Test func `removed and finished taps of an earlier run do not keep other taps from the screen`()
    async throws
  {
    try await receive(1...4)
    let left = await inbox.resume(maximum: 10)
    _ = try await inbox.clear(InboxClearing(ids: [tapID(1)], onScreen: [tapID(1)], includesOnScreen: true))
    for state in [TapState.opening, .delivered] { try await inbox.move(tapID(3), to: state) }
    await service.show(left)
    #expect(await service.policy.onScreenInOrder == [tapID(2), tapID(4)])
    try await bus.stop()
  }

  @Test func `a tap that was dismissed and shown again leaves the screen when it is dismissed again`() async throws {
    try await receive(1...1)
    try await inbox.move(tapID(1), to: .dismissed)
    try await service.showAgain(tapID(1))
    let shown = try await server.next()
    await #expect(throws: BusError.self) { try await service.dismiss(tapID(1)) }
    #expect(try await server.nextClosed() == shown.id)
    try await bus.stop()
  }
}
