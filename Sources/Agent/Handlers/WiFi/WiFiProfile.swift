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
  /// Which of the profiles of this network it is.
  var slot = Slot.memory

  /// A network has few profiles, however often its sticker is read. A new saved profile takes the free one of two
  /// slots, so a sticker with a wrong password cannot remove the profile that works.
  enum Slot: String, CaseIterable {
    /// The profile that is not saved.
    case memory
    /// The profile that is saved.
    case saved
    /// The profile that is saved if there is one in `saved`.
    case spare
  }

  /// The key `connection.uuid`. It follows from the network, the user and the slot (as RFC 4122, version 5, but with
  /// SHA-256). So the profile is found again if NetworkManager has not told its path, or if an earlier tap has added it.
  ///
  /// The password is not part of it: anyone who sees the UUID could try passwords on it.
  var uuid: String {
    // A user's name has no colon, so no two networks have the same text.
    let owner = "tagroute:\(slot.rawValue):\(WiFiOffer(network).isOpen ? "open" : "wpa-psk"):\(user ?? ""):"
    let digits = MessageDigest.sha256(Array(owner.utf8) + network.ssid)
    func part(_ start: Int, _ count: Int) -> Substring { digits.dropFirst(start).prefix(count) }
    return "\(part(0, 8))-\(part(8, 4))-5\(part(13, 3))-a\(part(17, 3))-\(part(20, 12))"
  }

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
      "id": .string(name), "uuid": .string(uuid), "type": .string("802-11-wireless"), "autoconnect": .boolean(false),
    ]
    if let user { connection["permissions"] = .strings(["user:\(user):"]) }
    return connection
  }

  /// The options of `AddAndActivateConnection2`. NetworkManager writes no file to the disk, only one below `/run`.
  static let options = Value.dictionary(["persist": .string("memory")])
  /// The flag of `Update2` that writes the profile to a file (`NM_SETTINGS_UPDATE2_FLAG_TO_DISK`).
  static let toDisk = Value.uint32(1)
}
