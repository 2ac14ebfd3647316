import Bus
import EventLoop
import TestRig
import Testing
@testable import NotificationsTests

@testable import Notifications

/// The client with a real server: dunst, on an X server without a screen.
@Suite(.timeLimit(.minutes(5))) struct DunstTests {
  @Test func `dunst shows a notification as intended and reports the click`() async throws {
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

    // dunst reports how many notifications it shows.
    let shown = try await ChildProcess.run(control, ["count", "displayed"], environment: environment)
    #expect(shown.output == "1\n")
    _ = try await ChildProcess.run(control, ["action", "0"], environment: environment)
    #expect(await events.next() == .activated(key, action: "open", token: nil))

    let history = try await ChildProcess.run(control, ["history"], environment: environment)
    // The history is JSON. The body in it has its markup resolved.
    #expect(history.output.contains(#"menu.example.com/<3&\"4\""#))
    #expect(history.output.contains("Open in Menu"))
    await connection.close()
    server.signal(15)
    screen.process.signal(15)
  }
}
