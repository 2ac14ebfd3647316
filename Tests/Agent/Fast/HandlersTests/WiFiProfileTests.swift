import Bus
import NDEF
import Testing

@testable import Handlers

/// The profile that NetworkManager gets for a network, and the meaning of its states.
@Suite struct WiFiProfileTests {
  private func groups(_ profile: WiFiProfile) -> [String: [String: Value]]? {
    profile.settings?.asDictionary?.compactMapValues(\.asDictionary)
  }

  @Test func `a network with a password is a profile of its user`() throws {
    let network = WiFiNetwork(ssid: "Guest", passphrase: "visitors")
    let profile = try #require(groups(WiFiProfile(network: network, user: "ada")))
    #expect(profile["802-11-wireless"]?["ssid"] == .bytes(Array("Guest".utf8)))
    #expect(profile["802-11-wireless"]?["mode"] == .string("infrastructure"))
    #expect(
      profile["802-11-wireless-security"] == ["key-mgmt": .string("wpa-psk"), "psk": .string("visitors")])
    #expect(
      profile["connection"] == [
        "id": .string("Guest"), "uuid": .string("637a3ba8-5fc3-5573-a80c-a6a4266a06f4"),
        "type": .string("802-11-wireless"), "autoconnect": .boolean(false), "permissions": .strings(["user:ada:"]),
      ])
    #expect(WiFiProfile.options.asDictionary == ["persist": .string("memory")])
  }

  @Test func `the UUID tells networks, users and slots apart, but not passwords`() {
    let guest = WiFiNetwork(ssid: "Guest", passphrase: "visitors")
    let profile = WiFiProfile(network: guest, user: "ada")
    // The SHA-256 of "tagroute:memory:wpa-psk:ada:Guest", from another program.
    #expect(profile.uuid == "637a3ba8-5fc3-5573-a80c-a6a4266a06f4")
    #expect(WiFiProfile(network: WiFiNetwork(ssid: "Guest", passphrase: "other-one"), user: "ada").uuid == profile.uuid)
    let others = [
      profile, WiFiProfile(network: guest, user: "ada", slot: .saved),
      WiFiProfile(network: guest, user: "ada", slot: .spare), WiFiProfile(network: guest, user: "bob"),
      WiFiProfile(network: guest, user: nil),
      WiFiProfile(network: WiFiNetwork(ssid: "Guest", passphrase: nil), user: "ada"),
      WiFiProfile(network: WiFiNetwork(ssid: "guest", passphrase: "visitors"), user: "ada"),
    ]
    #expect(Set(others.map(\.uuid)).count == others.count)
  }

  @Test func `an open network has no security, and only a kept one is joined again by itself`() throws {
    let network = WiFiNetwork(ssid: "Café\n", passphrase: nil)
    let profile = try #require(groups(WiFiProfile(network: network, user: nil)))
    #expect(profile["802-11-wireless-security"] == nil)
    #expect(profile["connection"]?["autoconnect"] == .boolean(false))
    #expect(profile["connection"]?["permissions"] == nil)
    #expect(profile["connection"]?["id"] == .string("Café\\x0A"))
    let whole = WiFiProfile(network: network, user: nil)
    let kept = try #require(whole.settings.flatMap(whole.kept)?.asDictionary?.compactMapValues { $0.asDictionary })
    #expect(kept["connection"]?["autoconnect"] == .boolean(true) && kept["802-11-wireless-security"] == nil)
    #expect(kept["802-11-wireless"] == profile["802-11-wireless"])
    #expect(whole.kept(.string("x")) == nil && whole.kept(.dictionary([:])) == nil)
  }

  @Test func `a network that cannot be used has no profile`() {
    for network in [
      WiFiNetwork(ssid: "", passphrase: nil), WiFiNetwork(ssid: String(repeating: "a", count: 33), passphrase: nil),
      WiFiNetwork(ssid: "a", passphrase: "short"), WiFiNetwork(ssid: "a", passphrase: ""),
      WiFiNetwork(ssid: "a", passphrase: "visitors\u{0}"),
    ] {
      #expect(WiFiProfile(network: network, user: nil).settings == nil)
    }
  }

  @Test(
    arguments: [
      ([.state(1, reason: 0), .state(2, reason: 1)], .connected),
      ([.state(4, reason: 9)], .failed(.networkPassword, "")),
      ([.state(3, reason: 10), .state(4, reason: 0)], .failed(.networkPassword, "")),
      ([.state(1, reason: 0), .state(4, reason: 6)], .failed(.networkNotJoined, "reason 6")),
      ([.gone], .failed(.networkNotJoined, "reason 0")),
      ([.state(3, reason: 9), .gone], .failed(.networkPassword, "")),
      ([.state(1, reason: 0), .timedOut], .failed(.networkNotJoined, "it took too long")),
      ([.state(0, reason: 0), .state(1, reason: 0), .state(99, reason: 9)], nil),
    ] as [([WiFiActivation.Event], WiFiActivation.End?)])
  func `the first final state decides`(events: [WiFiActivation.Event], end: WiFiActivation.End?) {
    var activation = WiFiActivation()
    var found: WiFiActivation.End?
    for event in events where found == nil { found = activation.handle(event) }
    #expect(found == end)
  }
}
