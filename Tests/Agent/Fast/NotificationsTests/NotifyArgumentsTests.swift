import Bus
import Testing

@testable import Notifications

struct NotifyArgumentsTests {
  private func arguments(_ notification: Notification, _ server: NotificationServer = .sample()) -> NotifyArguments {
    NotifyArguments(notification, replaces: 0, keySuffix: "", server: server)
  }

  @Test func `the body is escaped only for servers that read markup, and the summary never`() {
    let notification = sampleNotification("A <3 & \"B\"", body: "1 < 2 & \"x\" > y")
    let markup = arguments(notification)
    #expect(markup.notification.summary.string == "A <3 & \"B\"")
    #expect(markup.body == "1 &lt; 2 &amp; &quot;x&quot; &gt; y")
    #expect(arguments(notification, .sample(capabilities: ["actions", "body"])).body == "1 < 2 & \"x\" > y")
  }

  @Test(arguments: [["actions", "body", "body-markup"], ["body"]] as [Set<String>])
  func `line feeds of the body stay`(capabilities: Set<String>) {
    var notification = sampleNotification()
    notification.body = DisplayText("one\nhttps://two", lines: 2)
    let body = arguments(notification, .sample(capabilities: capabilities)).body
    #expect(body.split(separator: "\n").prefix(2) == ["one", "two"])
  }

  @Test func `a server with actions gets a default action and a visible button`() {
    #expect(arguments(sampleNotification(), .sample(name: "mako")).actions == ["default", "Open", "open", "Open"])
  }

  @Test(arguments: ["dunst", "Xfce Notify Daemon", "lxqt-notificationd"])
  func `a server that shows the default action as a button gets no duplicate or useless button`(
    name: String
  ) {
    let server = NotificationServer.sample(name: name)
    var notification = sampleNotification()
    notification.buttons.append(NotificationButton(key: "dismiss", label: "Dismiss"))
    #expect(arguments(notification, server).actions == ["default", "Open", "dismiss", "Dismiss"])
    notification.defaultAction = NotificationButton(key: "default", label: "Ask again")
    #expect(arguments(notification, server).actions == ["open", "Open", "dismiss", "Dismiss"])
    // On Dunst and LXQt, and on no other server, a click on the notification itself invokes a lone action.
    notification.buttons.removeLast()
    let lone = name.hasPrefix("Xfce") ? ["open", "Open"] : ["default", "Ask again", "open", "Open"]
    #expect(arguments(notification, server).actions == lone)
    notification.buttons = []
    #expect(arguments(notification, server).actions == ["default", "Ask again"])
  }

  @Test func `a server without actions gets no buttons and a line that says how to open the link`() {
    let plain = arguments(sampleNotification(), .sample(capabilities: ["body"]))
    #expect(plain.actions.isEmpty)
    #expect(plain.body == "menu.example.com/table/4\nTo open it: tagroute inbox open")
  }

  @Test func `the body never contains a full address`() {
    let notification = sampleNotification(body: "see https://evil.example/x and HTTP://two.example and ftp://c")
    #expect(arguments(notification).body == "see evil.example/x and two.example and c")
  }

  @Test func `a combining mark after a slash or a dot does not hide an address`() {
    let notification = sampleNotification(body: "https://\u{301}evil.example www.\u{301}two.example/\u{301}x")
    let body = arguments(notification, .sample(name: "gnome-shell")).body.unicodeScalars.map(\.value)
    for (index, scalar) in body.enumerated() where scalar == 0x2E || scalar == 0x2F {
      #expect(index > 0 && body[index - 1] == 0x2060)
    }
    #expect(!arguments(notification).body.utf8.map(\.self).contains(Array("https://".utf8)))
  }

  @Test func `GNOME Shell finds no address in the body, and the visible text stays the same`() {
    let notification = sampleNotification(body: "www.example.com/x menu.example.com/table/4")
    let body = arguments(notification, .sample(name: "gnome-shell")).body
    #expect(body.replacing("\u{2060}", with: "") == "www.example.com/x menu.example.com/table/4")
    // The patterns of GNOME Shell: "www.", and a dot with two to four letters and a slash.
    #expect(body.firstMatch(of: /www\d{0,3}[.]/) == nil)
    #expect(body.firstMatch(of: /[a-z0-9.\-]+[.][a-z]{2,4}\//) == nil)
    #expect(arguments(notification).body == "www.example.com/x menu.example.com/table/4")
  }

  @Test(arguments: ["cinnamon", "gnome-shell", "Budgie Desktop", "", "dunst-like"])
  func `a server that was not tested gets invisible joiners in each address`(name: String) {
    let body = arguments(sampleNotification(body: "www.a.example/x"), .sample(name: name)).body
    #expect(body == "www\u{2060}.a\u{2060}.example\u{2060}/x")
  }

  @Test(arguments: [
    "dunst", "Xfce Notify Daemon", "Notification Daemon", "lxqt-notificationd", "mako", "SwayNotificationCenter",
    "Plasma",
  ])
  func `a server that makes no links gets no invisible characters`(name: String) {
    #expect(arguments(sampleNotification(body: "www.a.example/x"), .sample(name: name)).body == "www.a.example/x")
  }
}

/// Which calls of `Notify` ask for a sound.
@Suite struct SoundTests {
  private static let key = NotificationKey("a")
  private static let sounding = NotificationServer.sample(capabilities: ["actions", "body", "sound"])

  private func notification(_ sound: NotificationSound, body: String = "menu.example.com") -> Notification {
    var notification = sampleNotification(body: body)
    notification.sound = sound
    return notification
  }

  private func hints(_ sound: NotificationSound, _ server: NotificationServer) -> [String: Value] {
    let arguments = NotifyArguments(sampleNotification(), replaces: 0, keySuffix: "", sound: sound, server: server)
    return (arguments.values[6].asDictionary ?? [:]).filter { ["sound-name", "suppress-sound"].contains($0.key) }
  }

  @Test func `a sound is named, and silence is asked for, only on a server with sounds`() {
    #expect(hints(.arrival, Self.sounding) == ["sound-name": .string("message-new-instant")])
    #expect(hints(.failure, Self.sounding) == ["sound-name": .string("dialog-error")])
    #expect(hints(.silent, Self.sounding) == ["suppress-sound": .boolean(true)])
    for sound in [NotificationSound.arrival, .failure, .silent] { #expect(hints(sound, .sample()) == [:]) }
  }

  /// Both daemons report this name, and neither plays the sound of a name.
  @Test func `notification-daemon counts as a server without sounds`() {
    #expect(hints(.arrival, .sample(name: "Notification Daemon", capabilities: ["sound"])) == [:])
  }

  @Test func `the caller plays the sound for a server without sounds, once and when the notification is up`() {
    var board = board()
    let call = board.handle(.show(Self.key, notification(.arrival), replacing: nil))
    #expect(call.reports.isEmpty)
    let up = board.answer(call, id: 1)
    #expect(up.reports == [.shown(Self.key, at: .sample(id: 1)), .soundDue(Self.key, .arrival)])
    let again = board.answer(
      board.handle(.show(Self.key, notification(.silent, body: "changed"), replacing: nil)), id: 1)
    #expect(again.reports == [.shown(Self.key, at: .sample(id: 1))])
    var other = NotificationBoard { "" }
    _ = other.handle(.ownerChanged(Self.sounding.owner))
    _ = other.handle(.described(Self.sounding))
    let played = other.answer(other.handle(.show(Self.key, notification(.arrival), replacing: nil)), id: 1)
    #expect(played.reports.count == 1)
  }

  @Test func `a notification that is shown again is silent, and a new one in its place has its sound`() {
    var board = board(with: Self.sounding)
    let first = board.handle(.show(Self.key, notification(.arrival), replacing: nil))
    #expect(first.calls.map(\.sound) == [.arrival])
    _ = board.answer(first, id: 1)
    let again = board.handle(.show(Self.key, notification(.silent, body: "changed"), replacing: nil))
    #expect(again.calls.map(\.sound) == [.silent])
    _ = board.answer(again, id: 1)
    let failed = board.handle(.show(Self.key, notification(.failure), replacing: nil))
    #expect(failed.calls.map(\.sound) == [.failure])
    _ = board.answer(failed, id: 1)
    let next = board.handle(.show(NotificationKey("b"), notification(.arrival), replacing: Self.key))
    #expect(next.calls.map(\.sound) == [.arrival])
  }

  @Test func `the next server shows a notification without its sound`() {
    var board = board(with: Self.sounding)
    _ = board.answer(board.handle(.show(Self.key, notification(.arrival), replacing: nil)), id: 1)
    _ = board.handle(.ownerChanged(":1.8"))
    let other = board.handle(.described(.sample(":1.8", capabilities: ["actions", "body", "sound"])))
    #expect(other.calls.map(\.sound) == [.silent])
  }

  @Test func `a sound that no server has played is kept`() {
    var board = board(with: Self.sounding)
    let refused = board.refuse(board.handle(.show(Self.key, notification(.arrival), replacing: nil)))
    let retry = refused.timers.flatMap { board.handle(.timeout($0)) }
    #expect(retry.calls.map(\.sound) == [.arrival])
    // The server leaves before it replies.
    _ = board.handle(.ownerChanged(":1.8"))
    let other = board.handle(.described(.sample(":1.8", capabilities: ["actions", "body", "sound"])))
    #expect(other.calls.map(\.sound) == [.arrival])
  }

  @Test func `a change of the words before the first server does not silence the sound`() {
    var board = NotificationBoard { "" }
    _ = board.handle(.show(Self.key, notification(.arrival), replacing: nil))
    _ = board.handle(.show(Self.key, notification(.silent, body: "changed"), replacing: nil))
    _ = board.handle(.ownerChanged(Self.sounding.owner))
    let calls = board.handle(.described(Self.sounding)).calls
    #expect(calls.map(\.sound) == [.arrival])
    #expect(calls.map(\.notification.body.string) == ["changed"])
  }

  @Test func `two changes during a call keep the last sound`() {
    var board = board(with: Self.sounding)
    let first = board.handle(.show(Self.key, notification(.arrival), replacing: nil))
    _ = board.handle(.show(Self.key, notification(.failure), replacing: nil))
    _ = board.handle(.show(Self.key, notification(.silent, body: "changed"), replacing: nil))
    #expect(board.answer(first, id: 1).calls.map(\.sound) == [.failure])
  }
}
