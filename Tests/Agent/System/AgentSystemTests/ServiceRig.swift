import Bus
import EventLoop
import Handlers
import Inbox
import Journal
import Routing
import Settings
import TestKit

@testable import AgentTests

@testable import Agent

/// The agent's service in the test's own process, with a notification server and without a daemon.
struct ServiceRig {
  let bus: PrivateBus
  let server: NotificationServerStandIn
  let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
  let service: AgentService

  /// Starts everything but the service.
  init(
    clock: any Clock<Duration> = ContinuousClock(), isHeadless: Bool = false,
    defaultApplication: @escaping @Sendable (String) -> Application? = { _ in nil }
  ) async throws {
    bus = try await PrivateBus.start()
    server = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    let session = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "agent"))
    let handlers = HandlerRegistry(
      directories: DataDirectories(user: nil, system: []), defaultApplication: defaultApplication, on: session.loop)
    service = AgentService(
      session: session, inbox: inbox, configuration: AgentConfiguration(), now: { sampleTime }, clock: clock,
      isHeadless: isHeadless, handlers: handlers, log: Log(threshold: .error, prefixed: false),
      declareLocked: { _, _ in })
  }

  /// Stores taps with links, as if an earlier run had received them.
  func receive(_ numbers: ClosedRange<Int>, handler: String? = nil) async throws {
    for number in numbers {
      let uri = "https://menu.example.com/\(number)"
      let reading = try TagReading(tapValues(number, message: try uriMessage(uri)), now: sampleTime)
      _ = await inbox.receive(
        Tap(
          id: reading.id, time: reading.time, message: reading.message, technology: reading.technology,
          uid: reading.uid, reader: reading.reader, uri: uri, title: "", handler: handler))
    }
  }
}
