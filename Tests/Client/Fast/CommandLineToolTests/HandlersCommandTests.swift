import Glibc
import Testing

@testable import CommandLineTool
@testable import TagrouteClient

/// The forms of `handlers prefer`, `block` and `forget`.
@Suite struct HandlerChoiceTests {
  private func choice(_ words: String) throws -> HandlerChoice? {
    try HandlerChoice(Command.handlers.parse(words.split(separator: " ").map { $0 == "-" ? "" : String($0) }))
  }

  @Test(
    arguments: [
      ("prefer a b.example", .prefer(handler: "a", claim: "b.example")), ("block a", .block(handler: "a", claim: nil)),
      ("block a tel: --json", .block(handler: "a", claim: "tel:")), ("forget a", .forget(handler: "a", claim: nil)),
      ("forget a *.b.example", .forget(handler: "a", claim: "*.b.example")),
      ("forget --domain b.example", .forget(handler: nil, claim: "b.example")),
      ("forget --all", .forget(handler: nil, claim: nil)), ("verify a", nil), ("", nil),
    ] as [(String, HandlerChoice?)])
  func `each form is parsed`(words: String, choice: HandlerChoice?) throws {
    #expect(try self.choice(words) == choice)
  }

  @Test(arguments: [
    ("prefer a b.example", "App: preferred and allowed for b.example"), ("block a", "App: blocked for everything"),
    ("block a tel:", "App: blocked for tel:"), ("forget a *.b.example", "App: choices forgotten for *.b.example"),
    ("forget --all", "App: choices forgotten for everything"),
  ])
  func `each choice is confirmed`(words: String, line: String) throws {
    #expect(try choice(words)?.confirmation("App") == line)
  }

  @Test(arguments: [
    "prefer", "prefer a", "prefer a b --all", "block", "block a --domain b", "forget", "forget a --all",
    "forget --all --domain b", "forget a b --check", "forget -", "block a -", "forget --domain=",
  ])
  func `a wrong form is rejected`(words: String) {
    #expect(throws: Failure.self) { try choice(words) }
  }
}

@Suite struct KnownAppsTests {
  private func app(_ id: String, _ name: String) -> HandlerDescription {
    var app = HandlerDescription()
    (app.id, app.name) = (id, name)
    return app
  }

  @Test func `an app is named by its id, its file or its name`() throws {
    let apps = KnownApps([
      app("org.example.Menu.desktop", "Menu"), app("org.example.Menu.desktop", ""), app("a.desktop", "Two"),
      app("b.desktop", "two"), app("c.desktop", "a"), app("d.desktop", "The App"),
    ])
    for typed in ["org.example.Menu", "org.example.Menu.desktop", "Menu", "menu"] {
      #expect(try apps.id(of: typed) == "org.example.Menu.desktop", "\(typed)")
    }
    // An id comes before a name.
    #expect(try apps.id(of: "a") == "a.desktop" && apps.id(of: "The App") == "d.desktop")
    // An app that is no handler has an id, too.
    #expect(try apps.id(of: "firefox") == "firefox.desktop")
    let failure = #expect(throws: Failure.self) { try apps.id(of: "Two") }
    #expect(failure?.message.contains("2 apps are called Two: name one by its id: a, b") == true)
    for typed in ["", "No App", "a/b"] { #expect(throws: Failure.self) { try apps.id(of: typed) } }
    #expect(apps.text("org.example.Menu.desktop") == "Menu (org.example.Menu)" && apps.text("x.desktop") == "x")
    #expect(apps.name("org.example.Menu.desktop") == "Menu" && apps.name("x.desktop") == nil)
  }
}

@Suite struct InternetAddressTests {
  private func bytes(_ text: String) -> [UInt8] {
    var address = [UInt8](repeating: 0, count: text.contains(":") ? 16 : 4)
    #expect(inet_pton(text.contains(":") ? AF_INET6 : AF_INET, text, &address) == 1)
    return address
  }

  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "128.0.0.1", "169.253.255.255",
    "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
    "223.255.255.255", "2606:4700::1111", "2001:4860:4860::8888", "2a00:1450::1", "2001:200::1", "64:ff9b::101:101",
    "3fff:1000::1", "2003::1",
  ])
  func `a public address is global`(text: String) { #expect(InternetAddress.isGlobal(bytes(text))) }

  @Test(arguments: [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.255",
    "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1",
    "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::ffff:127.0.0.1", "::ffff:1.1.1.1", "::7f00:1", "fe80::1", "fc00::1", "fd12:3456::1", "ff02::1",
    "2001::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::1", "2002:808:808::1", "3fff::1", "3fff:fff::1",
    "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "fec0::1", "4000::1",
  ])
  func `a private, special or reserved address is not global`(text: String) {
    #expect(!InternetAddress.isGlobal(bytes(text)))
  }

  @Test(arguments: [0, 1, 3, 5, 15, 17]) func `bytes of the wrong length are not a global address`(count: Int) {
    #expect(!InternetAddress.isGlobal([UInt8](repeating: 8, count: count)))
  }
}
