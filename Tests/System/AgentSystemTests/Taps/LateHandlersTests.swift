import Bus
import Configuration
import Dispatch
import EventLoop
import Handlers
import Inbox
import Journal
import Routing
import TestRig
import Testing
@testable import AgentTests

@testable import Agent

/// A session that starts before its desktop entries can be read, for example because of a slow disk or a file system
/// that does not answer.
@Suite(.timeLimit(.minutes(1))) struct LateHandlersTests {
  @Test func `the agent does not wait indefinitely for desktop entries, and routes shown taps again with them`()
    async throws
  {
    let bus = try await PrivateBus.start()
    let directory = try TemporaryDirectory()
    let file = try directory.write(
      "[Desktop Entry]\nType=Application\nName=Web\nExec=/bin/true %u\n", to: "web.desktop")
    let web = Application(desktopID: "web.desktop", name: "Web", file: file, origin: .system)
    let server = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    let session = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "agent"))
    // Holds the thread that reads the handlers.
    let gate = DispatchSemaphore(value: 0)
    let handlers = HandlerRegistry(
      directories: DataDirectories(user: nil, system: []),
      defaultApplication: { scheme in
        gate.wait()
        gate.signal()
        return scheme == "https" ? web : nil
      }, on: session.loop)
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    for number in 1...2 {
      let reading = try TagReading(
        tapValues(number, message: try uriMessage("https://menu.example.com/\(number)")), now: sampleTime)
      _ = await inbox.receive(
        Tap(
          id: reading.id, time: reading.time, message: reading.message, technology: reading.technology,
          uid: reading.uid, reader: reading.reader, uri: "", title: "", handler: nil))
    }
    try await inbox.move(tapID(2), to: .opening, handler: "web.desktop")
    let clock = RecordingClock()
    let service = AgentService(
      session: session, inbox: inbox, configuration: AgentConfiguration(), now: { sampleTime }, clock: clock,
      handlers: handlers, log: Log(threshold: .error, prefixed: false), declareLocked: { _, _ in })

    // If the service waited for the entries, this call would not return.
    await service.start()
    #expect(clock.pauses.first == .seconds(5))
    try await service.tagRead(tapValues(3, message: try uriMessage("https://menu.example.com/3")))
    var shown: [String: String] = [:]
    for _ in 1...3 {
      let next = try await server.next()
      shown[String(next.body.prefix(18))] = next.summary
    }
    #expect(
      shown == [
        "menu.example.com/1": "No app opens this link", "menu.example.com/2": "Could not copy",
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
    try await bus.stop()
  }
}
