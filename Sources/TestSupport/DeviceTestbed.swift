import Glibc

/// Devices that are not there: a /sys and a udev of one's own, made by umockdev.
///
/// Whoever is started with `environment` sees them instead of the machine's. The programs are the real ones, libudev too;
/// only the C library's calls that reach for /sys, /dev and the kernel's socket are led elsewhere.
public struct DeviceTestbed: Sendable {
  /// What a program is started with to see the devices.
  public let environment: [String: String]
  /// Stands for /run; udev runs in it.
  public let runtime: TemporaryDirectory
  private let process: ChildProcess

  /// Whether libudev would listen at all: it does where udev runs or could (sd-device of systemd 252).
  public static var isPossible: Bool {
    if access("/run/udev/control", F_OK) == 0 { return true }
    let mounts = (try? readFile("/proc/self/mounts")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return mounts.split(separator: "\n").contains { $0.contains(" /dev devtmpfs ") }
  }

  /// - Parameter starter: the function on whose behalf it runs, which names the log.
  /// - Throws: `RigError` where umockdev is not installed.
  public init(starter: String = #function) async throws {
    let script = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/umockdev-testbed.py"
    process = try ChildProcess(
      try BuiltProducts.systemProgram("umockdev-wrapper", package: "umockdev"), ["/usr/bin/python3", script],
      input: true, starter: starter)
    let root = try await process.line { $0.hasPrefix("root ") }.dropFirst(5)
    runtime = try TemporaryDirectory()
    try runtime.write("", to: "udev/control")
    environment = [
      "LD_PRELOAD": "libumockdev-preload.so.0", "UMOCKDEV_DIR": String(root), "TAGROUTE_RUN": runtime.path,
    ]
  }

  /// Adds a device, without a word about it.
  ///
  /// - Parameters:
  ///   - name: the name of its folder.
  ///   - subsystem: `usb` or `tty`.
  ///   - parent: the path of the device that it hangs on.
  ///   - values: `name=value`; in capitals it is a property of udev's, else an attribute.
  /// - Returns: its path, `/sys/devices/…`.
  /// - Throws: `RigError` where umockdev refuses.
  public func add(_ name: String, _ subsystem: String, on parent: String? = nil, _ values: [String]) async throws
    -> String
  {
    try await perform("add \(subsystem) \(name) \(parent ?? "-") \(values.joined(separator: " "))")
  }

  /// Plugs a USB device in.
  ///
  /// - Parameters:
  ///   - name: where it is, `1-1.2`.
  ///   - identity: vendor and product, `072f:2200`.
  ///   - number: its number on bus 1.
  ///   - hub: the path of the hub that it is plugged into.
  ///   - driver: what its one interface is bound to.
  ///   - seat: udev's property.
  /// - Returns: its path.
  /// - Throws: `RigError` where umockdev refuses.
  public func plugUSB(
    _ name: String, _ identity: String, number: Int, on hub: String? = nil, driver: String? = nil, seat: String? = nil
  ) async throws -> String {
    let ids = identity.split(separator: ":")
    let digits = String(1000 + number).dropFirst()
    var values = [
      "idVendor=\(ids[0])", "idProduct=\(ids[1])", "busnum=1", "devnum=\(number)", "DEVTYPE=usb_device",
      "DEVNAME=/dev/bus/usb/001/\(digits)",
    ]
    if let seat { values.append("ID_SEAT=\(seat)") }
    let path = try await add(name, "usb", on: hub, values)
    _ = try await add(interface(of: path), "usb", on: path, ["DEVTYPE=usb_interface"])
    if let driver { try await bind(path, to: driver) }
    try await event(path, "add")
    return path
  }

  /// Gives a USB device's interface a driver, without a word about it.
  ///
  /// - Parameters:
  ///   - path: the device.
  ///   - driver: the name of its folder.
  /// - Throws: `RigError` where umockdev refuses.
  public func bind(_ path: String, to driver: String) async throws {
    try await perform("link \(path)/\(interface(of: path)) driver ../../../bus/usb/drivers/\(driver)")
  }

  /// Takes the driver of a USB device's interface away.
  ///
  /// - Parameter path: the device.
  /// - Throws: `RigError` where umockdev refuses.
  public func unbind(_ path: String) async throws {
    let interface = "\(path)/\(interface(of: path))"
    try await perform("unlink \(interface) driver")
    try await event(interface, "unbind")
  }

  private func interface(of path: String) -> String { "\(path.split(separator: "/").last ?? ""):1.0" }

  /// Says what udev would.
  ///
  /// - Parameters:
  ///   - path: the device.
  ///   - action: `add`, `change`, ….
  /// - Throws: `RigError` where umockdev refuses.
  public func event(_ path: String, _ action: String) async throws {
    try await perform("event \(path) \(action)")
  }

  /// Unplugs a device.
  ///
  /// - Parameter path: the device.
  /// - Throws: `RigError` where umockdev refuses.
  public func unplug(_ path: String) async throws { try await perform("remove \(path)") }

  @discardableResult
  private func perform(_ command: String) async throws -> String {
    let seen = await process.log().count
    try await process.send(command)
    let answer = try await process.line(after: seen) { $0.hasPrefix("ok") || $0.hasPrefix("failed") }
    guard answer.hasPrefix("ok") else { throw RigError("umockdev: \(command): \(answer)") }
    return String(answer.dropFirst(3))
  }
}
