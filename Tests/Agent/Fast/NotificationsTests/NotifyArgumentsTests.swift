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
