import Bus
import EventLoop
import Names
import TestKit
import Testing

@testable import Notifications
@testable import NotificationsTests

/// The client on a real bus, with a server that the test controls.
@Suite(.timeLimit(.minutes(5))) struct NotificationClientTests {
  private let key = NotificationKey("a")
  private let bus: PrivateBus

  init() async throws { bus = try await PrivateBus.start() }

  /// A running client, and the iterator of its events.
  private struct Rig {
    let client: NotificationClient
    var events: AsyncStream<NotificationEvent>.Iterator

    init(on bus: PrivateBus, clock: any Clock<Duration> = ContinuousClock()) async throws {
      let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "client"))
      let client = NotificationClient(on: connection, clock: clock)
      self.client = client
      events = client.events.makeAsyncIterator()
      Task { try await client.run() }
    }

    /// The next event other than `serverChanged` and `gone`.
    mutating func next() async -> NotificationEvent? {
      while let event = await events.next(isolation: #isolation) {
        switch event {
        case .serverChanged, .gone: continue
        default: return event
        }
      }
      return nil
    }
  }

  @Test func `a notification arrives complete, and a click is reported with its token`() async throws {
    let server = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    var rig = try await Rig(on: bus)
    await rig.client.show(sampleNotification("A & B", body: "a <b>"), as: key)

    let shown = try await server.next()
    #expect(shown.applicationName == "Tagroute")
    #expect(shown.icon == "org.example.Menu")
    #expect(shown.summary == "A & B")
    #expect(shown.body == "a &lt;b&gt;")
    #expect(shown.actions == ["default", "Open", "open", "Open"])
    #expect(shown.hints == ["urgency": .byte(1), "category": .string("transfer.received")])
    #expect(shown.timeout == -1)
    #expect(shown.replaces == 0)
    #expect(await rig.next()?.shownKey == key)

    try await server.click(shown, token: "token-1")
    #expect(await rig.next() == .activated(key, action: "open", token: "token-1"))
  }

  @Test func `signals from other connections are ignored`() async throws {
    let server = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    var rig = try await Rig(on: bus)
    await rig.client.show(sampleNotification(), as: key)
    let shown = try await server.next()
    #expect(await rig.next()?.shownKey == key)

    let stranger = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "stranger"))
    for destination in [nil, shown.sender] {
      try await stranger.emit(
        path: "/org/freedesktop/Notifications", interface: "org.freedesktop.Notifications", member: "ActionInvoked",
        [.uint32(shown.id), .string("default")], destination: destination)
    }
    // When the bus has replied to the stranger's call, the stranger's signals are delivered. The server's come later.
    _ = try await stranger.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
    try await server.click(shown, action: "open", token: "t")
    #expect(await rig.next() == .activated(key, action: "open", token: "t"))
    await stranger.close()
  }

  @Test func `a server that starts late shows the waiting notification`() async throws {
    var rig = try await Rig(on: bus)
    await rig.client.show(sampleNotification(), as: key)
    let server = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    #expect(try await server.next().summary == "Open in Menu")
    #expect(await rig.next()?.shownKey == key)
  }

  @Test func `the next server is asked for its capabilities and shows the notifications of a dead one`() async throws {
    let first = try await NotificationServerStandIn.start(on: BusAddress(bus.address), firstID: 40)
    var rig = try await Rig(on: bus)
    await rig.client.show(sampleNotification(body: "<3"), as: key)
    #expect(try await first.next().body == "&lt;3")
    #expect(await rig.next()?.shownKey == key)

    await first.stop()
    let second = try await NotificationServerStandIn.start(
      on: BusAddress(bus.address), capabilities: ["actions", "body"])
    let shown = try await second.next()
    #expect(shown.replaces == 0)
    #expect(shown.body == "<3")
    #expect(await rig.next()?.shownKey == key)
    try await second.click(shown, token: "t")
    #expect(await rig.next() == .activated(key, action: "open", token: "t"))
    #expect(await second.capabilityRequests == 1)
  }

  @Test func `after a restart of the bus the notification is shown again`() async throws {
    let first = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    var rig = try await Rig(on: bus)
    await rig.client.show(sampleNotification(), as: key)
    _ = try await first.next()
    #expect(await rig.next()?.shownKey == key)

    try await bus.stop()
    await first.stop()
    try await bus.restart()
    let second = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    let shown = try await second.next()
    #expect(await rig.next()?.shownKey == key)
    try await second.click(shown, token: "t")
    #expect(await rig.next() == .activated(key, action: "open", token: "t"))
  }

  @Test func `a second tap replaces the notification, and the caller can close it`() async throws {
    let server = try await NotificationServerStandIn.start(on: BusAddress(bus.address), firstID: 7)
    var rig = try await Rig(on: bus)
    await rig.client.show(sampleNotification(), as: key)
    #expect(try await server.next().id == 7)
    #expect(await rig.next()?.shownKey == key)

    let again = NotificationKey("b")
    await rig.client.show(sampleNotification(body: "Again"), as: again, replacing: key)
    #expect(try await server.next().replaces == 7)
    #expect(await rig.next()?.shownKey == again)

    await rig.client.close(again)
    await rig.client.show(sampleNotification("Last"), as: key)
    #expect(try await server.nextClosed() == 7)
    #expect(try await server.next().summary == "Last")
  }

  @Test func `a notification that a server is still showing at exit is closed when its id arrives`() async throws {
    let server = try await NotificationServerStandIn.start(on: BusAddress(bus.address), firstID: 7)
    let clock = ManualClock()
    let rig = try await Rig(on: bus, clock: clock)
    await server.hold()
    await rig.client.show(sampleNotification(), as: key)
    #expect(try await server.next().id == 7)
    async let gone = rig.client.closeAll()
    var pauses = clock.pauses.makeAsyncIterator()
    #expect(await pauses.next() == .milliseconds(300))
    await server.answer()
    #expect(await gone.map(\.id) == [7])
    #expect(await server.onScreen.isEmpty)
    // After `closeAll` the client shows no notification.
    await rig.client.show(sampleNotification(), as: key)
    #expect(await rig.client.closeAll().isEmpty)
    #expect(await server.all.count == 1)
  }

  @Test func `a server that does not reply does not prevent exit`() async throws {
    let server = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    let clock = ManualClock()
    let rig = try await Rig(on: bus, clock: clock)
    await server.hold()
    await rig.client.show(sampleNotification(), as: key)
    _ = try await server.next()
    async let gone = rig.client.closeAll()
    var pauses = clock.pauses.makeAsyncIterator()
    _ = await pauses.next()
    clock.advance(by: .milliseconds(300))
    #expect(await gone.isEmpty)
    await server.answer()
  }

  @Test func `a server that does not report its capabilities is asked again`() async throws {
    let server = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    await server.setCapabilities(nil)
    let clock = ManualClock()
    let rig = try await Rig(on: bus, clock: clock)
    var events = rig.client.events.makeAsyncIterator()
    guard case .serverChanged(let silent?)? = await events.next() else { throw RigError("no server was reported") }
    #expect(silent.name == "" && silent.capabilities == ["actions", "body", "body-markup"])
    var pauses = clock.pauses.makeAsyncIterator()
    #expect(await pauses.next() == .seconds(1))
    await server.setCapabilities(["body"])
    clock.advance(by: .seconds(1))
    guard case .serverChanged(let known?)? = await events.next() else { throw RigError("the server was not reported") }
    #expect(known.name == "mako" && known.capabilities == ["body"])
  }
}
