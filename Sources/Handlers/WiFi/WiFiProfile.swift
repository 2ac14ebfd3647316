import Bus
import NDEF
import Routing

/// A connection profile of NetworkManager for a network of a tag (nm-settings-dbus(5)).
struct WiFiProfile {
  /// The network, whose password was checked.
  let network: WiFiNetwork
  /// The user who may use the profile; nil for every user. With a user, NetworkManager needs no permission of the
  /// administrator to add the profile.
  let user: String?

  /// The settings, `a{sa{sv}}`; nil if the network cannot be used. The network is joined this once, and not again by
  /// itself.
  var settings: Value? {
    let offer = WiFiOffer(network)
    guard offer.obstacle == nil, (1...32).contains(network.ssid.count) else { return nil }
    var groups: [String: [String: Value]] = [
      "802-11-wireless": ["ssid": .bytes(network.ssid), "mode": .string("infrastructure")],
      "connection": connection(named: offer.name),
    ]
    if !offer.isOpen { groups[Self.security] = ["key-mgmt": .string("wpa-psk"), "psk": password] }
    return Self.value(groups)
  }

  /// The settings that are kept after the network was joined: those that NetworkManager has, with the password, which it
  /// does not tell. Nil if they are malformed.
  func kept(_ stored: Value) -> Value? {
    guard var groups = stored.asDictionary?.compactMapValues(\.asDictionary), groups["connection"] != nil else {
      return nil
    }
    groups["connection"]?["autoconnect"] = .boolean(true)
    if !network.key.isEmpty { groups[Self.security, default: [:]]["psk"] = password }
    return Self.value(groups)
  }

  private static let security = "802-11-wireless-security"

  /// Printable ASCII, as `WiFiOffer` has checked. NetworkManager reads 64 hexadecimal digits as a key.
  private var password: Value { .string(String(decoding: network.key, as: UTF8.self)) }

  private static func value(_ groups: [String: [String: Value]]) -> Value {
    .dictionary(
      key: "s", value: "a{sv}",
      groups.sorted { $0.key < $1.key }.map { DictionaryEntry(.string($0.key), .dictionary($0.value)) })
  }

  private func connection(named name: String) -> [String: Value] {
    var connection: [String: Value] = [
      "id": .string(name), "type": .string("802-11-wireless"), "autoconnect": .boolean(false),
    ]
    if let user { connection["permissions"] = .strings(["user:\(user):"]) }
    return connection
  }

  /// The options of `AddAndActivateConnection2`. NetworkManager writes no file.
  static let options = Value.dictionary(["persist": .string("memory")])
  /// The flag of `Update2` that writes the profile to a file (`NM_SETTINGS_UPDATE2_FLAG_TO_DISK`).
  static let toDisk = Value.uint32(1)
}
