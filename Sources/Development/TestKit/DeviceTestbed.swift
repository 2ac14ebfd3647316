import Glibc

/// Simulated devices: a private /sys and udev, created by umockdev.
///
/// A program that is started with `environment` sees them instead of the machine's devices. The program and libudev are
/// the real ones. Only the C library's calls for /sys, /dev and the kernel's socket are redirected.
package struct DeviceTestbed: Sendable {
  package let environment: [String: String]
  /// The replacement for /run. A control file makes udev appear to run there. Its folder `drivers` is that of pcscd's
  /// drivers.
  package let runtime: TemporaryDirectory
  private let process: ChildProcess

  /// Whether libudev listens for events. It does so only if udev runs or could run (sd-device of systemd 252).
  package static var isPossible: Bool {
    if access("/run/udev/control", F_OK) == 0 { return true }
    let mounts = (try? readFile("/proc/self/mounts")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return mounts.split(separator: "\n").contains { $0.contains(" /dev devtmpfs ") }
  }

  /// Starts umockdev. `starter` names the log.
  package init(starter: String = #function) async throws {
    let script = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/umockdev-testbed.py"
    process = try ChildProcess(
      try BuiltProducts.systemProgram("umockdev-wrapper", package: "umockdev"), ["/usr/bin/python3", script],
      input: true, starter: starter)
    let root = try await process.line { $0.hasPrefix("root ") }.dropFirst(5)
    runtime = try TemporaryDirectory()
    try runtime.write("", to: "udev/control")
    environment = [
      "LD_PRELOAD": "libumockdev-preload.so.0", "UMOCKDEV_DIR": String(root), "TAGROUTE_RUN": runtime.path,
      "TAGROUTE_PCSC_DRIVERS": runtime.file("drivers"),
    ]
  }

  /// Adds a device without an event. `name` is that of its folder, `subsystem` is `usb` or `tty`, and `parent` is a
  /// path. In the values `name=value`, a name in capitals is a property of udev, any other an attribute. Returns its
  /// path, `/sys/devices/…`.
  package func add(_ name: String, _ subsystem: String, on parent: String? = nil, _ values: [String]) async throws
    -> String
  {
    try await perform("add \(subsystem) \(name) \(parent ?? "-") \(values.joined(separator: " "))")
  }

  /// Plugs a USB device in. `name` is its port, for example `1-1.2`. `identity` is vendor and product, for example
  /// `072f:2200`. `number` is its number on bus 1, `hub` is a path, and `driver` is that of its only interface. Returns
  /// its path.
  package func plugUSB(
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

  /// Binds the interface of a USB device to a driver, without an event.
  package func bind(_ path: String, to driver: String) async throws {
    try await perform("link \(path)/\(interface(of: path)) driver ../../../bus/usb/drivers/\(driver)")
  }

  /// Unbinds the interface of a USB device from its driver, and sends the event.
  package func unbind(_ path: String) async throws {
    let interface = "\(path)/\(interface(of: path))"
    try await perform("unlink \(interface) driver")
    try await event(interface, "unbind")
  }

  private func interface(of path: String) -> String { "\(path.split(separator: "/").last ?? ""):1.0" }

  /// Sends an event of udev: `add`, `change`, ….
  package func event(_ path: String, _ action: String) async throws { try await perform("event \(path) \(action)") }

  package func unplug(_ path: String) async throws { try await perform("remove \(path)") }

  @discardableResult private func perform(_ command: String) async throws -> String {
    let seen = await process.log().count
    try await process.send(command)
    let answer = try await process.line(after: seen) { $0.hasPrefix("ok") || $0.hasPrefix("failed") }
    guard answer.hasPrefix("ok") else { throw RigError("umockdev: \(command): \(answer)") }
    return String(answer.dropFirst(3))
  }
}

extension DeviceTestbed {
  /// Plugs a reader for smart cards in. `name` is its port, for example `1-1.2`. `identity` is vendor and product, for
  /// example `072f:223b`. `number` is its number on bus 1. `interfaces` are the names of its interfaces, each of them a
  /// slot; nil for one without a name. Returns its path, for `unplug(_:)`.
  package func plugCardReader(
    _ name: String, _ identity: String, interfaces: [String?], number: Int, serial: String? = nil
  ) async throws -> String {
    let ids = identity.split(separator: ":")
    var values = [
      "idVendor=\(ids[0])", "idProduct=\(ids[1])", "busnum=1", "devnum=\(number)", "DEVTYPE=usb_device",
      "DEVNAME=/dev/bus/usb/001/\(String(1000 + number).dropFirst())",
    ]
    if let serial { values.append("serial=\(serial)") }
    let path = try await add(name, "usb", values)
    var added: [String] = []
    for (index, text) in interfaces.enumerated() {
      var values = ["DEVTYPE=usb_interface", "bInterfaceClass=0b", "bInterfaceNumber=0\(index)"]
      if let text { values.append("interface=\(text.split(separator: " ").joined(separator: "%20"))") }
      added.append(try await add("\(name):1.\(index)", "usb", on: path, values))
    }
    try await event(path, "add")
    for interface in added { try await event(interface, "add") }
    return path
  }
}
