import Bus
import EventLoop
import Glibc
import NDEF
import TestKit
import Testing

@testable import IntegrationTests

/// Notification servers as packaged by Debian, on virtual screens, with real taps and real mouse clicks.
///
/// `Packaging/try-notification-server` tests the servers that need a desktop, and makes the pictures for the
/// documentation.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct RealServerTests {
  @Test(arguments: RealServer.tested)
  func `taps are opened and dismissed, and one outlives the server`(server: RealServer) async throws {
    let desktop = try await Desktop(environment: RealServerScreen.language)
    let screen = try await RealServerScreen(server, on: desktop)
    try desktop.installation.directory.write("[Notifications]\nTimeout=never\n", to: "agent.conf")
    try await screen.start()
    try await desktop.start()
    let agent = try await desktop.agent
    let taps = try await Taps(on: desktop.sessionBus)
    if !server.isActivated { try await agent.line(containing: "notifications go to \(server.ownName)") }
    try await screen.remember()

    try await desktop.place(try Tag(1))
    let opened = try await taps.received()
    let first = try await screen.shown()
    try await screen.click(server.opening, in: first)
    let handed = try await desktop.handed()
    #expect(handed.message == (try Tag(1).message))
    #expect((handed.platformData["activation-token"] != nil) == server.givesToken)
    #expect(await taps.end(of: opened) == "delivered")
    try await screen.empty()

    try await desktop.place(try Tag(2))
    let dismissed = try await taps.received()
    try await screen.click(server.closing, in: try await screen.shown())
    #expect(await taps.end(of: dismissed) == server.closedState)
    try await screen.empty()

    try await desktop.place(try Tag(3))
    let kept = try await taps.received()
    _ = try await screen.shown()
    let seen = await agent.log().count
    try await screen.kill()
    try await screen.start()
    // The agent asks again for the server's name and capabilities, until the server replies.
    try await agent.line(containing: "notifications go to \(server.ownName)", after: seen)
    if server.showsAgain {
      let again = try await screen.shown()
      // The tap is shown once, not twice.
      #expect((again.width, again.height) == (first.width, first.height))
      try await screen.click(server.opening, in: again)
      #expect(try await desktop.handed().message == (try Tag(3).message))
      #expect(await taps.end(of: kept) == "delivered")
    }
    #expect(await desktop.app.count == (server.showsAgain ? 2 : 1))
  }

  // MARK: Questions

  private static let longName = "Österreichisches Wirtshaus- und Speisekartenverzeichnis"
  private static let longDomain = "table-reservations.restaurants-and-taverns.example.com"

  /// An app of the user with a long name, and a browser.
  private static let files = [
    "home/share/applications/org.example.Long.desktop":
      "[Desktop Entry]\nType=Application\nName=\(longName)\nExec=/bin/true %u\nImplements=org.tagroute.Handler1;\n"
      + "[org.tagroute.Handler1]\nDomains=\(longDomain);\n",
    "share/applications/chromium.desktop":
      "[Desktop Entry]\nType=Application\nName=Chromium Web Browser\nExec=/bin/true %u\n"
      + "MimeType=x-scheme-handler/https;\n",
    "config/mimeapps.list": "[Default Applications]\nx-scheme-handler/https=chromium.desktop\n",
  ]

  /// This also makes the pictures for the documentation. Their names end in the second argument.
  @Test(arguments: RealServer.tested, ["", "-long"])
  func `the first question about an app is on the screen as a whole`(server: RealServer, names: String) async throws {
    let (desktop, screen, _) = try await RealServerScreen.stage(server, isSystems: false, files: Self.files)
    let link = names.isEmpty ? "https://menu.example.com/table/7" : "https://\(Self.longDomain)/table/7?guest=4"
    try await desktop.place(try Tag(1, uri: link))
    let box = try await screen.shown(storedAs: server.testDescription + names)
    #expect(RealServerScreen.holds(box) && box.width < 640, "\(box)")
  }

  // MARK: Do-not-disturb, timeouts and repeated tags

  @Test(arguments: RealServer.quietable)
  func `a tap during do-not-disturb is shown afterwards`(server: RealServer) async throws {
    let (desktop, screen, taps) = try await RealServerScreen.stage(server)
    try await screen.setQuiet(true)
    try await desktop.place(try Tag(1))
    let id = try await taps.received()
    try await desktop.agent.line(containing: "tap \(id) is shown")
    #expect(try await screen.isEmpty())
    try await screen.setQuiet(false)
    try await screen.click(server.opening, in: try await screen.shown())
    #expect(try await desktop.handed().message == (try Tag(1).message))
    #expect(await taps.end(of: id) == "delivered")
    try await screen.empty()
  }

  @Test(arguments: RealServer.expiring)
  func `a notification without an answer expires`(server: RealServer) async throws {
    let (desktop, screen, taps) = try await RealServerScreen.stage(server, timeout: "server")
    try await desktop.place(try Tag(1))
    let id = try await taps.received()
    #expect(await taps.end(of: id) == "expired")
    try await screen.empty()
    #expect(await desktop.app.count == 0)
  }

  @Test(arguments: RealServer.staying)
  func `a repeated tap replaces its notification`(server: RealServer) async throws {
    let (desktop, screen, taps) = try await RealServerScreen.stage(server)
    try await desktop.place(try Tag(1))
    let first = try await taps.received()
    let box = try await screen.shown()
    try await desktop.remove()
    try await desktop.place(try Tag(1))
    let second = try await taps.received()
    #expect(second != first)
    try await desktop.agent.line(containing: "tap \(second) is shown")
    let again = try await screen.shown()
    #expect((again.width, again.height) == (box.width, box.height))
    try await screen.click(server.opening, in: again)
    #expect(try await desktop.handed().message == (try Tag(1).message))
    try await screen.empty()
    #expect(await desktop.app.count == 1)
  }
}

/// The buttons beside “Open” and “Dismiss”, on servers as packaged by Debian.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct RealServerButtonTests {
  private static let password = "s3cret-visitors"

  private static func guest(_ number: Int) throws -> Tag {
    let network = WiFiNetwork(ssid: "Guest", passphrase: password)
    let message = try NDEFMessage(records: [WiFiRecord([network]).record()])
    return Tag(try Tag(number), message: try message.encoded())
  }

  @Test(arguments: RealServerButtons.Kind.tested)
  func `a tag opens at once after one button, and asks again after another`(
    kind: RealServerButtons.Kind
  ) async throws {
    let (desktop, screen, buttons) = try await RealServerButtons.stage(kind)
    let agent = try await desktop.agent
    let rules = desktop.installation.directory.file("config/tagroute/rules.d/always.conf")
    let tag = try Tag(1)

    try await desktop.place(tag)
    _ = try await screen.shown()
    try await buttons.press("More…")
    // As long as a person needs to read the buttons.
    _ = try await screen.shown(for: .milliseconds(1500))
    try await buttons.press("Always open at once")
    #expect(try await desktop.handed().message == tag.message)
    try await agent.line(containing: "opens without a click from now on")
    try await screen.empty()
    #expect(String(decoding: try readFile(rules), as: UTF8.self).contains("UID=04000000000001\n"))

    // Nobody clicks.
    try await desktop.remove()
    try await desktop.place(tag)
    #expect(try await desktop.handed().message == tag.message)
    _ = try await screen.shown()
    try await buttons.press("Ask next time")
    try await agent.line(containing: "asks from now on")
    try await screen.empty()
    #expect(try readFile(rules).isEmpty)

    try await desktop.remove()
    try await desktop.place(tag)
    _ = try await screen.shown()
    #expect(await desktop.app.count == 2)
    try await buttons.press("Open")
    #expect(try await desktop.handed().message == tag.message)
    #expect(await desktop.app.count == 3)
  }

  @Test(arguments: RealServerButtons.Kind.tested)
  func `one button connects to a network, and another also saves it`(kind: RealServerButtons.Kind) async throws {
    let (desktop, screen, buttons) = try await RealServerButtons.stage(kind)
    let agent = try await desktop.agent
    let manager = try await NetworkManagerStandIn.start(on: desktop.systemBus)

    try await desktop.place(try Self.guest(1))
    _ = try await screen.shown()
    #expect(await manager.all.isEmpty)
    try await buttons.press("Connect")
    guard case .add = try await manager.next() else { throw RigError("“Connect” did not add a profile") }
    try await agent.line(containing: "was handed to NetworkManager")
    try await screen.empty()
    #expect(await manager.all.count == 1)

    let seen = await agent.log().count
    try await desktop.place(try Self.guest(2))
    _ = try await screen.shown()
    try await buttons.press("Connect and Save")
    guard case .add = try await manager.next(), case .update(let kept, flags: 1) = try await manager.next() else {
      throw RigError("“Connect and Save” did not save the profile")
    }
    #expect(kept["802-11-wireless-security"]?["psk"]?.asString == Self.password)
    try await agent.line(containing: "was handed to NetworkManager", after: seen)
    try await screen.empty()
    // The saved profile replaces that of “Connect”.
    #expect(await manager.all.count == 4)
    #expect(await manager.all.last == .delete)
  }
}

/// Another tag or another program interferes with a visible notification, on servers as packaged by Debian. Each test
/// prints a line for the table of `Packaging/try-notification-server`.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct RealServerMisuseTests {
  /// The tag changes its content while the user moves the pointer to the button.
  @Test(arguments: RealServer.tested)
  func `a click right after another link was read opens no link`(server: RealServer) async throws {
    let (desktop, screen, taps) = try await RealServerScreen.stage(server)
    try await desktop.place(try Tag(1))
    _ = try await taps.received()
    try await screen.point(server.opening, in: try await screen.shown())
    try await desktop.remove()
    let other = try Tag(1, uri: "https://menu.example.com/other")
    try await desktop.place(other)
    let second = try await taps.received()
    let agent = try await desktop.agent
    try await agent.line(containing: "tap \(second) is shown")
    try await screen.press(server.opening)
    guard server.showsAfterClosing else {
      // The agent handles a click before it shows the next tag.
      try await desktop.remove()
      try await desktop.place(try Tag(2))
      try await agent.line(containing: "tap \(try await taps.received()) is shown")
      #expect(await desktop.app.count == 0)
      print("another link, \(server.testDescription): a click opened nothing; what followed is only in its list")
      return
    }

    // A deliberate click opens the visible link, and the first click has opened no link.
    var (clicks, ended) = (0, "")
    while !ended.contains("is opening") && clicks < 5 {
      let box = try await screen.shown(for: .milliseconds(1500))
      #expect(await desktop.app.count == 0)
      let seen = await agent.log().count
      try await screen.click(server.opening, in: box)
      clicks += 1
      ended = try await agent.line(after: seen) {
        $0.contains("tap \(second) is opening") || $0.contains("tap \(second) is shown")
      }
    }
    #expect(try await desktop.handed().message == other.message)
    #expect(await desktop.app.count == 1)
    print(
      "another link, \(server.testDescription): the first click opened nothing, click \(clicks + 1) the link that was shown"
    )
  }

  /// Any program may call the server, guess the id, and use the action keys from the documentation.
  @Test(arguments: RealServer.tested)
  func `a program that takes over a question gets no permission`(server: RealServer) async throws {
    let (desktop, screen, taps) = try await RealServerScreen.stage(server, isSystems: false)
    try await desktop.place(try Tag(1))
    _ = try await taps.received()
    _ = try await screen.shown()
    let stranger = try await Connection.open(desktop.sessionBus, on: EventLoop(label: "stranger"))
    let agent = try await desktop.agent
    var isTaken = false
    for place in [server.opening, RealServer.Click(x: 60, y: -20), RealServer.Click(x: -60, y: -20)] {
      // The server assigns ids in order. If a click closed the question, it is shown again with another id.
      let own = try await notify(stranger, replacing: 0) ?? 0
      try await close(stranger, own)
      isTaken = try await notify(stranger, replacing: own - 1) == own - 1 || isTaken
      let seen = await agent.log().count
      try await screen.click(place, in: try await screen.shown())
      // The question is gone, or the click was on the other program's notification.
      let isGone = try await screen.isEmpty()
      let isShownAgain = await agent.log().dropFirst(seen).contains { $0.contains(" is shown") }
      if isGone || !isShownAgain { break }
    }
    // The agent handles every click before it shows the next tag.
    try await desktop.remove()
    let seen = await agent.log().count
    try await desktop.place(try Tag(2))
    try await agent.line(containing: "tap \(try await taps.received()) is shown", after: seen)
    #expect(await desktop.app.count == 0)
    #expect(access(desktop.installation.directory.file("config/tagroute/handlers.conf"), F_OK) != 0)
    print(
      "takeover, \(server.testDescription): the server \(isTaken ? "lets it" : "does not let it"), and no click gave a permission"
    )
  }

  /// Returns the id that the server assigned; nil if it refused.
  private func notify(_ stranger: Connection, replacing number: UInt32) async throws -> UInt32? {
    let keys = ["default", "Later", "allow", "Later", "open", "Later", "candidate-0", "Later"]
    do throws(BusError) {
      let reply = try await stranger.call(
        "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications", "Notify",
        [
          .string("Updates"), .uint32(number), .string(""), .string("Updates are ready"),
          .string("Install them later?"), .strings(keys), .dictionary([:]), .int32(0),
        ])
      return reply.first?.asUInt32
    } catch {
      return nil
    }
  }

  private func close(_ stranger: Connection, _ number: UInt32) async throws {
    _ = try await stranger.call(
      "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
      "CloseNotification", [.uint32(number)])
  }
}

/// The question on a real notification server: dunst, under an X server without a screen.
@Suite(.timeLimit(.minutes(60))) struct DunstChoiceTests {
  @Test func `dunst shows the question and the agent remembers the answer`() async throws {
    let dunst = try BuiltProducts.systemProgram("dunst", package: "dunst")
    let control = try BuiltProducts.systemProgram("dunstctl", package: "dunst")
    let screen = try await VirtualScreen()
    let desktop = try await Desktop(environment: ["DISPLAY": screen.display], isSystems: false)
    // The program that dunst runs to choose an action.
    let menu = try desktop.installation.directory.write(
      "#!/bin/sh\nexec grep -m 1 '^#Allow and Open'\n", to: "choose", mode: 0o755)
    let settings = try desktop.installation.directory.write("[global]\n    dmenu = \(menu)\n", to: "dunstrc")
    let server = try await desktop.installation.start(dunst, ["-conf", settings])
    try await desktop.start()
    let agent = try await desktop.agent
    for (number, title, action) in [
      (1, "Allow “Menu” to open links?", ["context"]),
      // The action of the middle mouse button.
      (2, "Open in Menu", ["action", "0"]),
    ] {
      let seen = await agent.log().count
      try await desktop.place(try Tag(number))
      _ = try await agent.line(after: seen) { $0.hasSuffix(" is shown") }
      #expect(try await desktop.installation.start(control, action).exit() == .exited(0))
      #expect(try await desktop.handed().message == (try Tag(number).message))
      let history = try await desktop.installation.start(control, ["history"])
      #expect(try await history.exit() == .exited(0))
      #expect(await history.standardOutput().contains(title))
    }
    server.signal(15)
    await desktop.stop()
    screen.process.signal(15)
  }
}
