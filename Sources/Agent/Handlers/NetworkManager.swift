package import Bus
import EventLoop
import Glibc
package import NDEF
import Routing

/// Connects to Wi-Fi networks of tags, over the D-Bus interface of NetworkManager on the system bus.
///
/// A profile is only in NetworkManager's memory until the network was joined, and is deleted if it was not. The
/// password goes only to NetworkManager: no outcome, error or log contains it.
package struct NetworkManager: Sendable {
  private let connection: Connection
  /// For a question. A notification waits for the answers.
  private let timeout: Duration
  /// For joining a network.
  private let limit: Duration

  /// `connection` is to the system bus.
  package init(_ connection: Connection, timeout: Duration = .seconds(2), limit: Duration = .seconds(45)) {
    self.connection = connection
    self.timeout = timeout
    self.limit = limit
  }

  package func availability() async -> WiFiAvailability {
    switch await device() {
    case .success: .available
    case .failure(let obstacle): obstacle.availability
    }
  }

  /// `saving` keeps the profile on the disk. Without it, the profile is in a file of root's below `/run`, and is gone
  /// when the computer restarts.
  ///
  /// Each call adds a profile, because the sticker's password may be new. It replaces the unsaved profile of an earlier
  /// call first: NetworkManager refuses a second profile with the same UUID. It removes a saved one only after a new
  /// one was joined and saved.
  package func join(_ network: WiFiNetwork, saving: Bool) async -> HandOverOutcome {
    let device: ObjectPath
    switch await self.device() {
    case .success(let path): device = path
    case .failure(let obstacle): return .failed(obstacle.availability.failure ?? HandOverFailure(.noWiFiDevice))
    }
    var profile = WiFiProfile(network: network, user: await Self.userName())
    if saving {
      profile.slot = .saved
      if await stored(profile) != nil { profile.slot = .spare }
    }
    guard let settings = profile.settings else { return .failed(HandOverFailure(.networkUnusable)) }
    await forget(profile)
    let start = ContinuousClock.now
    do throws(BusError) {
      let reply = try await connection.call(
        Self.name, Self.path, Self.name, "AddAndActivateConnection2",
        [settings, .objectPath(device), .objectPath("/"), WiFiProfile.options], timeout: limit, autoStart: false)
      guard reply.count >= 2, let stored = reply[0].asObjectPath, let active = reply[1].asObjectPath else {
        await forget(profile)
        return .failed(HandOverFailure(.networkNotJoined, "the reply is malformed"))
      }
      let rest = max(.zero, limit - (ContinuousClock.now - start))
      return await finish(profile, at: stored, active, within: rest, saving: saving)
    } catch {
      // The message may quote the settings, so only the name of the error is kept.
      if error.isAbsence { return .failed(HandOverFailure(.noNetworkManager)) }
      // NetworkManager may have added it all the same, for example if only the reply is late.
      await forget(profile)
      if error.name == BusError.Name.timeout {
        return .failed(HandOverFailure(.networkNotJoined, WiFiActivation.tooLong))
      }
      return .failed(HandOverFailure(.networkNotJoined, error.name, error: error.name))
    }
  }

  /// Nil if NetworkManager has no profile with this UUID.
  private func stored(_ profile: WiFiProfile) async -> ObjectPath? {
    let reply = try? await connection.call(
      Self.name, Self.settingsPath, Self.settingsInterface, "GetConnectionByUuid", [.string(profile.uuid)],
      timeout: max(limit, timeout), autoStart: false)
    return reply?.first?.asObjectPath
  }

  /// By the UUID. A NetworkManager that is slow gets the time that joining has.
  private func forget(_ profile: WiFiProfile) async {
    guard let path = await stored(profile) else { return }
    _ = try? await connection.call(
      Self.name, path, Self.profileInterface, "Delete", timeout: max(limit, timeout), autoStart: false)
  }

  private func finish(
    _ profile: WiFiProfile, at stored: ObjectPath, _ active: ObjectPath, within rest: Duration, saving: Bool
  ) async -> HandOverOutcome {
    switch await end(of: active, within: rest) {
    case .failed(let code, let detail):
      await forget(profile)
      return .failed(HandOverFailure(code, detail))
    case .connected:
      guard saving else { return .delivered }
      do throws(BusError) {
        let reply = try await connection.call(Self.name, stored, Self.profileInterface, "GetSettings")
        guard let kept = reply.first.flatMap(profile.kept) else {
          return .failed(HandOverFailure(.networkNotSaved, "the settings are malformed"))
        }
        _ = try await connection.call(
          Self.name, stored, Self.profileInterface, "Update2", [kept, WiFiProfile.toDisk, .dictionary([:])])
        for slot in WiFiProfile.Slot.allCases where slot != profile.slot {
          await forget(WiFiProfile(network: profile.network, user: profile.user, slot: slot))
        }
        return .delivered
      } catch {
        return .failed(HandOverFailure(.networkNotSaved, error.name, error: error.name))
      }
    }
  }

  /// Returns when the active connection is up or down.
  private func end(of active: ObjectPath, within rest: Duration) async -> WiFiActivation.End {
    let (events, event) = AsyncStream.makeStream(of: WiFiActivation.Event.self)
    let alarm = connection.loop.schedule(after: rest) { event.yield(.timedOut) }
    let rule = MatchRule(
      sender: Self.name, path: active, interface: Self.activeInterface, member: "StateChanged")
    // Without signals, the state that is read below still decides, or the time ends.
    let signals = try? await connection.signals(rule)
    let following = Task {
      guard let signals else { return }
      for await signal in signals {
        guard let state = signal.arguments.first?.asUInt32 else { continue }
        event.yield(.state(state, reason: signal.arguments.dropFirst().first?.asUInt32 ?? 0))
      }
    }
    defer {
      alarm.cancel()
      following.cancel()
    }
    // The state may have changed before the signals were followed.
    do throws(BusError) {
      let state = try await property("State", of: Self.activeInterface, at: active)
      event.yield(state.asUInt32.map { WiFiActivation.Event.state($0, reason: 0) } ?? .gone)
    } catch {
      // A signal that has come already has the reason, and is first.
      event.yield(.gone)
    }
    var activation = WiFiActivation()
    for await next in events {
      if let end = activation.handle(next) { return end }
    }
    return .failed(.networkNotJoined, "the wait was cancelled")
  }

  // MARK: The device

  private struct Obstacle: Error {
    let availability: WiFiAvailability
  }

  /// The first one that NetworkManager may use.
  private func device() async -> Result<ObjectPath, Obstacle> {
    do throws(BusError) {
      let reply = try await connection.call(
        Self.name, Self.path, Self.name, "GetDevices", timeout: timeout, autoStart: false)
      var isOff = false
      for path in (reply.first?.asObjectPaths ?? []).prefix(Self.mostDevices) {
        let type = try? await property("DeviceType", of: Self.deviceInterface, at: path)
        guard type?.asUInt32 == Self.wiFiType else { continue }
        let state = try? await property("State", of: Self.deviceInterface, at: path)
        if let number = state?.asUInt32, number >= Self.disconnectedState { return .success(path) }
        isOff = true
      }
      guard isOff else { return .failure(Obstacle(availability: .noDevice)) }
      let isEnabled = try await property("WirelessEnabled", of: Self.name, at: Self.path).asBool ?? true
      return .failure(Obstacle(availability: isEnabled ? .noDevice : .off))
    } catch {
      return .failure(Obstacle(availability: .noNetworkManager))
    }
  }

  private func property(
    _ name: String, of interface: String, at path: ObjectPath
  ) async throws(BusError) -> Value {
    let reply = try await connection.call(
      Self.name, path, "org.freedesktop.DBus.Properties", "Get", [.string(interface), .string(name)],
      timeout: timeout, autoStart: false)
    return reply.first?.unwrapped ?? .boolean(false)
  }

  /// Nil if this process's user has none. A directory service may answer slowly, so this is not done on the event loop.
  private static func userName() async -> String? {
    do throws(SystemError) {
      return try await DedicatedThread.run { () -> String? in
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer -> String? in
          var entry = passwd()
          var found: UnsafeMutablePointer<passwd>?
          guard let base = buffer.baseAddress,
            getpwuid_r(geteuid(), &entry, base, buffer.count, &found) == 0, found != nil,
            let name = entry.pw_name.map({ String(cString: $0) }), !name.isEmpty, !name.contains(":")
          else { return nil }
          return name
        }
      }
    } catch {
      return nil
    }
  }

  private static let name = "org.freedesktop.NetworkManager"
  private static let path: ObjectPath = "/org/freedesktop/NetworkManager"
  private static let deviceInterface = "org.freedesktop.NetworkManager.Device"
  private static let activeInterface = "org.freedesktop.NetworkManager.Connection.Active"
  private static let settingsPath: ObjectPath = "/org/freedesktop/NetworkManager/Settings"
  private static let settingsInterface = "org.freedesktop.NetworkManager.Settings"
  private static let profileInterface = "org.freedesktop.NetworkManager.Settings.Connection"
  /// More are not examined.
  private static let mostDevices = 64
  /// `NM_DEVICE_TYPE_WIFI`.
  private static let wiFiType: UInt32 = 2
  /// `NM_DEVICE_STATE_DISCONNECTED`: below it, the device is not managed or not available.
  private static let disconnectedState: UInt32 = 30
}

extension BusError {
  /// The destination does not run.
  fileprivate var isAbsence: Bool { name == Name.serviceUnknown || name == Name.nameHasNoOwner }
}

/// A connection profile of NetworkManager for a network of a tag (nm-settings-dbus(5)).
struct WiFiProfile {
  /// Its password was checked.
  let network: WiFiNetwork
  /// Nil for every user. With a user, NetworkManager needs no permission of the administrator to add the profile.
  let user: String?
  var slot = Slot.memory

  /// A network has few profiles, even if its sticker is read often. A new saved profile takes the free one of two
  /// slots, so a sticker with a wrong password cannot remove the profile that works.
  enum Slot: String, CaseIterable {
    /// Not saved.
    case memory
    case saved
    /// Saved if `saved` has a profile.
    case spare
  }

  /// The key `connection.uuid`. It follows from the network, the user and the slot (as RFC 4122, version 5, but with
  /// SHA-256). So the profile is found again if NetworkManager has not sent its path, or if an earlier tap has added
  /// it.
  ///
  /// The password is not part of it: a person who sees the UUID could try passwords on it.
  var uuid: String {
    // A user's name has no colon, so no two networks have the same text.
    let owner = "tagroute:\(slot.rawValue):\(WiFiOffer(network).isOpen ? "open" : "wpa-psk"):\(user ?? ""):"
    let digits = MessageDigest.sha256(Array(owner.utf8) + network.ssid)
    func part(_ start: Int, _ count: Int) -> Substring { digits.dropFirst(start).prefix(count) }
    return "\(part(0, 8))-\(part(8, 4))-5\(part(13, 3))-a\(part(17, 3))-\(part(20, 12))"
  }

  /// As `a{sa{sv}}`; nil if the network cannot be used. The network is joined this once, and not again by itself.
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

/// The way of an active connection of NetworkManager to its end (`NMActiveConnectionState`).
///
/// NetworkManager reports `activating` → `activated`, or `deactivating` → `deactivated` with a reason. The first of
/// `activated` and `deactivated` decides.
struct WiFiActivation {
  enum Event: Sendable, Hashable {
    /// The state, and the reason for it (`NMActiveConnectionStateReason`).
    case state(UInt32, reason: UInt32)
    /// The state cannot be read: the active connection is gone.
    case gone
    case timedOut
  }

  enum End: Sendable, Hashable {
    case connected
    case failed(HandOverFailure.Code, String)
  }

  /// Nil if the connection is not going down.
  private var reason: UInt32?

  /// Nil if it has not ended.
  mutating func handle(_ event: Event) -> End? {
    switch event {
    case .state(Self.activated, _): return .connected
    case .state(Self.deactivating, let reason):
      self.reason = reason
      return nil
    case .state(Self.deactivated, let reason): return Self.failure(self.reason ?? reason)
    case .state: return nil
    case .gone: return Self.failure(reason ?? 0)
    case .timedOut: return .failed(.networkNotJoined, Self.tooLong)
    }
  }

  static let tooLong = "it took too long"
  /// NetworkManager's numbers.
  private static let activated: UInt32 = 2
  private static let deactivating: UInt32 = 3
  private static let deactivated: UInt32 = 4
  /// No secrets were provided, or the login failed.
  private static let passwordReasons: Set<UInt32> = [9, 10]

  private static func failure(_ reason: UInt32) -> End {
    passwordReasons.contains(reason) ? .failed(.networkPassword, "") : .failed(.networkNotJoined, "reason \(reason)")
  }
}

/// Whether NetworkManager can connect to a Wi-Fi network now.
package enum WiFiAvailability: Sendable, Hashable, CaseIterable {
  case available
  /// NetworkManager does not run, or does not answer.
  case noNetworkManager
  /// NetworkManager has no Wi-Fi device that it may use.
  case noDevice
  case off
}

extension WiFiAvailability {
  /// Nil if Wi-Fi is available.
  var failure: HandOverFailure? {
    switch self {
    case .available: nil
    case .noNetworkManager: HandOverFailure(.noNetworkManager)
    case .noDevice: HandOverFailure(.noWiFiDevice)
    case .off: HandOverFailure(.wiFiOff)
    }
  }
}
