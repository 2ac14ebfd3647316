import Bus
import EventLoop
import Glibc
import NDEF
import TestKit
import Testing

@testable import Handlers

/// Our calls and profiles with the real NetworkManager. There is no radio, so no network is joined here:
/// `NetworkManagerTests` joins some with a stand-in.
///
/// NetworkManager, and the namespaces that separate it from the machine, need root. Otherwise the suite is skipped.
@Suite(
  .timeLimit(.minutes(60)),
  .enabled(
    "this is not root, or there are no namespaces: the real NetworkManager is NOT TESTED", RealNetworkManager.isPossible
  ))
struct RealNetworkManagerTests {
  private static let user = "nobody"
  private static let guest = WiFiNetwork(ssid: "Guest", passphrase: "visitors")

  /// A network, and the name of the authentication that NetworkManager has for it.
  private struct Sample {
    let network: WiFiNetwork
    let keyManagement: String?

    init(_ network: WiFiNetwork, _ keyManagement: String? = nil) {
      (self.network, self.keyManagement) = (network, keyManagement)
    }

    init(open ssid: [UInt8]) {
      var network = WiFiNetwork(ssid: "", passphrase: nil)
      network.ssid = ssid
      self.init(network)
    }
  }

  private static let samples = [
    Sample(WiFiNetwork(ssid: "Café", passphrase: nil)),
    Sample(guest, "wpa-psk"),
    Sample(WiFiNetwork(ssid: "Key", passphrase: String(repeating: "0aF9", count: 16)), "wpa-psk"),
    // What a key file could confuse with its own marks.
    Sample(WiFiNetwork(ssid: " [a]=b;#\\s ", passphrase: #" p=a;s\s#w"o'r%d "#), "wpa-psk"),
    Sample(WiFiNetwork(ssid: "Long", passphrase: String(repeating: "~", count: 63)), "wpa-psk"),
    // A list of numbers is NetworkManager's own notation for bytes.
    Sample(WiFiNetwork(ssid: "71;117;", passphrase: nil)),
    Sample(open: [0xFF, 0x00, 0x0A, 0x1B, 0x5C, 0x3B, 0x2F]),
    Sample(open: Array(repeating: 0xE2, count: 32)),
  ]

  private static let fields = [
    "connection.type", "connection.autoconnect", "connection.permissions", "802-11-wireless.mode",
    "802-11-wireless-security.key-mgmt",
  ]

  private func settings(_ network: WiFiNetwork) throws -> Value {
    try #require(WiFiProfile(network: network, user: Self.user).settings)
  }

  @Test func `without a radio there is no Wi-Fi device, and nothing is added`() async throws {
    let manager = try await RealNetworkManager()
    let connection = try await Connection.open(manager.address, on: EventLoop(label: "wifi-test"))
    let client = NetworkManager(connection, timeout: .seconds(20))
    #expect(await client.availability() == .noDevice)
    #expect(await client.join(Self.guest, saving: true) == .failed(HandOverFailure(.noWiFiDevice)))
    #expect(try await manager.networks().isEmpty)
    await connection.close()
  }

  @Test func `the types of our call are right, and without a suitable device no profile is left`() async throws {
    let manager = try await RealNetworkManager()
    let call = "AddAndActivateConnection2"
    let profile = try settings(Self.guest)
    let root = Value.objectPath("/")
    #expect(
      await manager.refusal(of: call, [profile, root, root, WiFiProfile.options])
        == "org.freedesktop.NetworkManager.UnknownDevice")
    // The only devices are no Wi-Fi devices, such as the loopback.
    for device in try await manager.devices() {
      let refusal = await manager.refusal(of: call, [profile, .objectPath(device), root, WiFiProfile.options])
      #expect(refusal?.hasPrefix("org.freedesktop.NetworkManager.") == true, "\(device): \(refusal ?? "none")")
    }
    // NetworkManager looks at options and types before it looks for a device.
    #expect(
      await manager.refusal(of: call, [profile, root, root, .dictionary(["persist": .string("nowhere")])])
        == "org.freedesktop.NetworkManager.InvalidArguments")
    #expect(
      await manager.refusal(of: call, [.dictionary(["a": .string("b")]), root, root, WiFiProfile.options])
        == "org.freedesktop.DBus.Error.InvalidArgs")
    #expect(try await manager.networks().isEmpty)
  }

  @Test func `every profile is accepted, and nmcli and busctl show what was on the tag`() async throws {
    let manager = try await RealNetworkManager()
    for sample in Self.samples {
      let path = try await manager.add(try settings(sample.network))
      try await expect(manager, path, has: sample, autoconnect: "no")
    }
    #expect(try await manager.networks().count == Self.samples.count)
  }

  @Test func `a second profile with our UUID is refused, until the first is deleted`() async throws {
    let manager = try await RealNetworkManager()
    for saves in [false, true] {
      let profile = WiFiProfile(network: Self.guest, user: Self.user)
      let path = try await manager.add(try settings(Self.guest))
      if saves {
        let kept = try #require(profile.kept(try await manager.contents(of: path)))
        try await manager.update(path, kept, flags: WiFiProfile.toDisk)
      }
      #expect(await manager.profile(profile.uuid) == path)
      await #expect(throws: BusError.self) { try await manager.add(try settings(Self.guest)) }
      try await manager.delete(path)
      #expect(await manager.profile(profile.uuid) == nil)
    }
    #expect(await manager.saved().isEmpty)
    let again = try await manager.add(try settings(Self.guest))
    #expect(try await manager.networks() == [again])
  }

  @Test func `a saved profile is the same after the computer was restarted, and the others are gone`() async throws {
    let manager = try await RealNetworkManager()
    var saved: [(sample: Sample, uuid: String)] = []
    for sample in Self.samples {
      let profile = WiFiProfile(network: sample.network, user: Self.user, slot: .saved)
      let path = try await manager.add(try #require(profile.settings))
      let kept = try #require(profile.kept(try await manager.contents(of: path)))
      try await manager.update(path, kept, flags: WiFiProfile.toDisk)
      saved.append((sample, try await manager.identity(of: path)))
      #expect(saved.last?.uuid == profile.uuid)
    }
    let unsaved = try await manager.add(try settings(Self.guest))
    let unsavedIdentity = try await manager.identity(of: unsaved)
    // NetworkManager's memory is a file on a file system in memory, so it survives the end of NetworkManager.
    #expect(try await manager.file(of: unsaved).hasPrefix("/run/NetworkManager/system-connections/"))
    try await manager.restart(boots: false)
    #expect(await manager.profile(unsavedIdentity) != nil)
    try await manager.restart(boots: true)
    #expect(await manager.profile(unsavedIdentity) == nil)

    let files = await manager.saved()
    #expect(files.count == Self.samples.count)
    for file in files {
      var information = stat()
      #expect(stat(file, &information) == 0 && information.st_mode & 0o777 == 0o600)
    }
    for (sample, uuid) in saved {
      let path = try #require(await manager.profile(uuid))
      #expect(try await manager.file(of: path).hasPrefix("/etc/NetworkManager/system-connections/"))
      try await expect(manager, path, has: sample, autoconnect: "yes")
    }
    if let path = await manager.profile(saved[0].uuid) { try await manager.delete(path) }
    #expect(await manager.saved().count == Self.samples.count - 1)
  }

  /// Compares a profile with its network, by programs that are not ours.
  private func expect(
    _ manager: RealNetworkManager, _ path: ObjectPath, has sample: Sample, autoconnect: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let shown = try await manager.shown(path, Self.fields)
    let network = sample.network
    let name = Comment(rawValue: "\(network.ssid): \(shown)")
    #expect(shown["connection.type"] == "802-11-wireless", name, sourceLocation: sourceLocation)
    #expect(shown["connection.autoconnect"] == autoconnect, name, sourceLocation: sourceLocation)
    #expect(
      shown["connection.permissions"]?.hasPrefix("user:\(Self.user)") == true, name, sourceLocation: sourceLocation)
    #expect(shown["802-11-wireless.mode"] == "infrastructure", name, sourceLocation: sourceLocation)
    #expect(
      shown["802-11-wireless-security.key-mgmt"] == sample.keyManagement, name, sourceLocation: sourceLocation)
    let password = network.key.isEmpty ? nil : String(decoding: network.key, as: UTF8.self)
    if let password {
      // nmcli shows an empty password if this call fails, and does not say why.
      let secrets = try await manager.secrets(of: path)
      let quoted = ["\\", "\"", "'"].reduce(password) { $0.replacing($1, with: "\\" + $1) }
      #expect(secrets.contains("\"psk\" s \"\(quoted)\""), "\(name): \(secrets)", sourceLocation: sourceLocation)
    }
    let written = try await manager.written(path)
    let bytes = network.ssid.map { "\($0)" }.joined(separator: " ")
    #expect(
      "\(written) ".replacing("\n", with: "").contains("\"ssid\" ay \(network.ssid.count) \(bytes) "), name,
      sourceLocation: sourceLocation)
    // Settings are shown without the password, to every user with permission to read them.
    if let password { #expect(!written.contains("\"\(password)\""), name, sourceLocation: sourceLocation) }
  }
}

/// The real NetworkManager on a private bus, on a machine without a radio.
///
/// It runs in its own network, mount and host name namespaces. Its folders in `/etc`, `/var` and `/run` are temporary
/// directories. So it sees neither the devices of the machine nor its profiles. This needs root.
actor RealNetworkManager {
  static let name = "org.freedesktop.NetworkManager"
  static let root: ObjectPath = "/org/freedesktop/NetworkManager"
  private static let settings: ObjectPath = "/org/freedesktop/NetworkManager/Settings"
  private static let profileInterface = "org.freedesktop.NetworkManager.Settings.Connection"

  /// No polkit, which would ask for a session. No name servers, because `/etc/resolv.conf` is the machine's.
  private static let configuration = """
    [main]
    plugins=keyfile
    auth-polkit=false
    dns=none
    rc-manager=unmanaged
    systemd-resolved=false
    hostname-mode=none
    no-auto-default=*
    """

  /// Mounts the folders, then becomes NetworkManager.
  private static let script = """
    mount -t tmpfs none /run && mkdir /run/NetworkManager && mount --bind "$1" /run/NetworkManager &&
      mkdir -p /etc/NetworkManager /var/lib/NetworkManager && mount --bind "$0/etc" /etc/NetworkManager &&
      mount --bind "$0/state" /var/lib/NetworkManager && exec "$2" --debug
    """

  /// Whether this is root, and the kernel allows the namespaces.
  @Sendable static func isPossible() async throws -> Bool {
    guard geteuid() == 0 else { return false }
    let trial = try await ChildProcess.run("/usr/bin/unshare", ["--mount", "--net", "--uts", "/bin/true"])
    return trial.status == .exited(0)
  }

  nonisolated let address: BusAddress
  private let bus: PrivateBus
  private let connection: Connection
  private let disk: TemporaryDirectory
  /// `/run/NetworkManager`, which does not survive a restart of the computer.
  private var memory: TemporaryDirectory
  private var process: ChildProcess?
  private let starter: String

  init(starter: String = #function) async throws {
    self.starter = starter
    bus = try await PrivateBus.start(type: "system", starter: starter)
    address = BusAddress(bus.address)
    connection = try await Connection.open(address, on: EventLoop(label: "real-network-manager"))
    (disk, memory) = (try TemporaryDirectory(), try TemporaryDirectory())
    try disk.write(Self.configuration, to: "etc/NetworkManager.conf")
    mkdir(disk.file("state"), 0o755)
    try await start()
  }

  private func start() async throws {
    let program = try BuiltProducts.systemProgram("NetworkManager", package: "network-manager")
    process = try ChildProcess(
      BuiltProducts.systemProgram("unshare", package: "util-linux"),
      ["--mount", "--net", "--uts", "/bin/sh", "-c", Self.script, disk.path, memory.path, program],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": address.string, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
      starter: starter)
    // It takes its name before it has its objects. The loopback is its only device.
    try await process?.line(containing: "(lo): new Loopback device")
  }

  /// Ends NetworkManager and starts it again, as an upgrade does or, with `boots`, a restart of the computer.
  func restart(boots: Bool) async throws {
    try await process?.exit(after: SIGTERM)
    for await owner in try await connection.owners(of: Self.name) where owner == nil { break }
    if boots { memory = try TemporaryDirectory() }
    try await start()
  }

  // MARK: Calls

  /// Calls a method of NetworkManager's main object, and returns the name of the error; nil if there is none.
  func refusal(of member: String, _ arguments: [Value]) async -> String? {
    do throws(BusError) {
      _ = try await connection.call(Self.name, Self.root, Self.name, member, arguments)
      return nil
    } catch {
      return error.name
    }
  }

  func devices() async throws -> [ObjectPath] {
    let reply = try await connection.call(Self.name, Self.root, Self.name, "GetDevices")
    guard let devices = reply.first?.asObjectPaths else { throw RigError("GetDevices has answered \(reply)") }
    return devices
  }

  /// Adds a profile in memory, as `AddAndActivateConnection2` does with our options.
  func add(_ profile: Value) async throws -> ObjectPath {
    let reply = try await connection.call(
      Self.name, Self.settings, "\(Self.name).Settings", "AddConnectionUnsaved", [profile])
    guard let path = reply.first?.asObjectPath else { throw RigError("AddConnectionUnsaved has answered \(reply)") }
    return path
  }

  func contents(of profile: ObjectPath) async throws -> Value {
    let reply = try await connection.call(Self.name, profile, Self.profileInterface, "GetSettings")
    guard let settings = reply.first else { throw RigError("GetSettings has answered nothing") }
    return settings
  }

  /// The key `connection.uuid` of a profile, which stays the same when NetworkManager starts again.
  func identity(of profile: ObjectPath) async throws -> String {
    let settings = try await contents(of: profile)
    guard let uuid = settings.asDictionary?["connection"]?.asDictionary?["uuid"]?.asString else {
      throw RigError("\(profile) has no UUID: \(settings)")
    }
    return uuid
  }

  func profile(_ uuid: String) async -> ObjectPath? {
    let reply = try? await connection.call(
      Self.name, Self.settings, "\(Self.name).Settings", "GetConnectionByUuid", [.string(uuid)])
    return reply?.first?.asObjectPath
  }

  /// The profiles of Wi-Fi networks.
  func networks() async throws -> [ObjectPath] {
    let reply = try await connection.call(Self.name, Self.settings, "\(Self.name).Settings", "ListConnections")
    var found: [ObjectPath] = []
    for path in reply.first?.asObjectPaths ?? [] {
      let type = try await contents(of: path).asDictionary?["connection"]?.asDictionary?["type"]?.asString
      if type == "802-11-wireless" { found.append(path) }
    }
    return found
  }

  /// Replaces a profile and writes it to a file.
  func update(_ profile: ObjectPath, _ settings: Value, flags: Value) async throws {
    _ = try await connection.call(
      Self.name, profile, Self.profileInterface, "Update2", [settings, flags, .dictionary([:])])
  }

  func delete(_ profile: ObjectPath) async throws {
    _ = try await connection.call(Self.name, profile, Self.profileInterface, "Delete")
  }

  func file(of profile: ObjectPath) async throws -> String {
    let reply = try await connection.call(
      Self.name, profile, "org.freedesktop.DBus.Properties", "Get",
      [.string(Self.profileInterface), .string("Filename")])
    guard let name = reply.first?.unwrapped.asString else { throw RigError("\(profile) has no file: \(reply)") }
    return name
  }

  /// The real path of the folder of saved profiles.
  func saved() -> [String] {
    let folder = "etc/system-connections"
    return (fileNames(in: disk.file(folder)) ?? []).map { disk.file("\(folder)/\($0)") }
  }

  // MARK: Programs that are not ours

  /// What `nmcli` shows of a profile, by field. Fields that the profile does not have are missing.
  func shown(_ profile: ObjectPath, _ fields: [String]) async throws -> [String: String] {
    let output = try await run(
      "nmcli", "network-manager",
      [
        "--terse", "--escape", "no", "--fields", fields.joined(separator: ","), "connection", "show",
        "path", profile.string,
      ])
    var shown: [String: String] = [:]
    for line in output.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { shown[String(parts[0])] = String(parts[1]) }
    }
    return shown
  }

  /// The reply to `GetSettings` as `busctl` writes it: types and numbers, so that each byte is visible.
  func written(_ profile: ObjectPath) async throws -> String {
    try await run(
      "busctl", "systemd",
      ["--address=\(address.string)", "call", Self.name, profile.string, Self.profileInterface, "GetSettings"])
  }

  /// The reply to `GetSecrets` for the section with the password, as `busctl` writes it.
  func secrets(of profile: ObjectPath) async throws -> String {
    try await run(
      "busctl", "systemd",
      [
        "--address=\(address.string)", "call", Self.name, profile.string, Self.profileInterface, "GetSecrets", "s",
        "802-11-wireless-security",
      ])
  }

  private func run(_ program: String, _ package: String, _ arguments: [String]) async throws -> String {
    let result = try await ChildProcess.run(
      BuiltProducts.systemProgram(program, package: package), arguments,
      environment: [
        "DBUS_SYSTEM_BUS_ADDRESS": address.string, "HOME": disk.path, "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin",
      ], starter: starter)
    guard result.status == .exited(0) else {
      throw RigError("\(program) failed (\(result.status)): \(result.log.joined(separator: "; "))")
    }
    return result.output
  }
}
