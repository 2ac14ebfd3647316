import Bus
import EventLoop
import TestSupport
import Testing

@testable import Notifications

/// The client against a real server: dunst, under an X server without a screen.
@Suite(.timeLimit(.minutes(5)))
struct DunstTests {
  @Test func `dunst shows a notification as it was meant, and its click comes back`() async throws {
    let dunst = try BuiltProducts.systemProgram("dunst", package: "dunst")
    let control = try BuiltProducts.systemProgram("dunstctl", package: "dunst")
    let bus = try await PrivateBus.start()
    let home = try TemporaryDirectory()
    let screen = try await VirtualScreen()
    let environment = [
      "DBUS_SESSION_BUS_ADDRESS": bus.address, "DISPLAY": screen.display, "HOME": home.path, "PATH": "/usr/bin:/bin",
    ]
    let server = try ChildProcess(dunst, ["-conf", "/dev/null"], environment: environment)

    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "client"))
    let client = NotificationClient(on: connection)
    var events = client.events.makeAsyncIterator()
    Task { try await client.run() }
    let key = NotificationKey("a")
    await client.show(sampleNotification("Open in Menu", body: "menu.example.com/<3&\"4\""), as: key)
    while let event = await events.next(), event.shownKey != key {}

    // dunst's own account of what it shows, markup read.
    let shown = try await ChildProcess.run(control, ["count", "displayed"], environment: environment)
    #expect(shown.output == "1\n")
    _ = try await ChildProcess.run(control, ["action", "0"], environment: environment)
    #expect(await events.next() == .activated(key, action: "open", token: nil))

    let history = try await ChildProcess.run(control, ["history"], environment: environment)
    // JSON, in which dunst gives the body as it read it.
    #expect(history.output.contains(#"menu.example.com/<3&\"4\""#))
    #expect(history.output.contains("Open in Menu"))
    await connection.close()
    server.signal(15)
    screen.process.signal(15)
  }
}
