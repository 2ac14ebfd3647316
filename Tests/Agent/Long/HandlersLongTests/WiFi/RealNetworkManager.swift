import Bus
import EventLoop
import Glibc
import TestKit

/// The real NetworkManager on a private bus, on a machine without a radio.
///
/// It runs in network, mount and host name namespaces of its own, where its folders in `/etc`, `/var` and `/run` are
/// temporary directories. So it sees neither the devices of the machine nor its profiles. This needs root.
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

  /// Starts NetworkManager, and waits until it has started.
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

  /// The devices that NetworkManager knows.
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

  /// The whole reply to `GetSettings` of a profile.
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

  /// The profile with this UUID; nil if there is none.
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

  /// Removes a profile.
  func delete(_ profile: ObjectPath) async throws {
    _ = try await connection.call(Self.name, profile, Self.profileInterface, "Delete")
  }

  /// The file of a profile, as NetworkManager names it.
  func file(of profile: ObjectPath) async throws -> String {
    let reply = try await connection.call(
      Self.name, profile, "org.freedesktop.DBus.Properties", "Get",
      [.string(Self.profileInterface), .string("Filename")])
    guard let name = reply.first?.unwrapped.asString else { throw RigError("\(profile) has no file: \(reply)") }
    return name
  }

  /// Where the folder of saved profiles really is.
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
