import Glibc
import Names
import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

/// A machine with udev, USB devices and pcscd on its standard socket, of which all but the programs is simulated: the
/// daemon finds readers as on a real machine, and connects to pcscd only for one of them.
///
/// The daemon runs in a mount namespace, where `/run/pcscd` is the folder of the private pcscd. This needs root.
struct CardMachine {
  let testbed: DeviceTestbed
  let desktop: Desktop
  let server: NotificationServerStandIn
  let readers: SimulatedCardReaders
  /// Starts when a client connects, as from systemd's socket unit.
  let pcscd: PrivatePCSCD
  let daemon: ChildProcess
  /// The readers, not plugged in.
  let attached: [AttachedCardReader]

  static var isPossible: Bool { DeviceTestbed.isPossible && geteuid() == 0 }

  /// The number on the USB bus of the first reader. The others follow.
  private static let firstNumber = 5

  /// Mounts the folder of pcscd, then becomes the daemon. libudev needs to see that udev runs, if it does.
  private static let script = """
    if [ -e /run/udev/control ]; then udev=1; fi
    mount -t tmpfs none /run && mkdir -p /run/pcscd /run/udev && mount --bind "$0" /run/pcscd &&
      { [ -z "$udev" ] || : > /run/udev/control; } && exec "$@"
    """

  /// Starts pcscd, a desktop, the daemon and the agent.
  ///
  /// - Parameters:
  ///   - models: readers that can be plugged in.
  ///   - settings: lines of the group `[Reader]`.
  ///   - isOnDemand: whether pcscd starts only when a client connects.
  ///   - starter: the test, which names the logs.
  /// - Throws: `SimulatorError`, `RigError` or `BusError` if a part does not start.
  init(
    _ models: [CardReaderModel], settings: [String] = [], isOnDemand: Bool = true, starter: String = #function
  ) async throws {
    let testbed = try await DeviceTestbed(starter: starter)
    self.testbed = testbed
    let folder = testbed.runtime.file("pcscd")
    mkdir(folder, 0o755)
    let readers = try await SimulatedCardReaders.start(socket: testbed.runtime.file("readers"))
    self.readers = readers
    var attached: [AttachedCardReader] = []
    for (index, model) in models.enumerated() {
      attached.append(await readers.addReader(model, device: UInt8(Self.firstNumber + index)))
    }
    self.attached = attached
    var options = PrivatePCSCD.Options()
    options.environment = testbed.environment
    options.startsOnDemand = isOnDemand
    let pcscd = try await readers.startHotplugPCSCD(in: folder, options: options)
    self.pcscd = pcscd
    atEndOfTest {
      await pcscd.kill()
      keepLog(pcscd.log(), of: "pcscd", starter: starter)
      await readers.stop()
      withExtendedLifetime(testbed) {}
    }
    desktop = try await Desktop(.others, reader: settings, starter: starter)
    server = try await desktop.startServer()
    let environment = desktop.installation.environment.merging(testbed.environment) { $1 }
      .merging(["TAGROUTE_PCSC_DRIVERS": "\(folder)/drivers"]) { $1 }
    daemon = try ChildProcess(
      try BuiltProducts.systemProgram("unshare", package: "util-linux"),
      [
        "-m", "/bin/sh", "-c", Self.script, folder, try BuiltProducts.program("tagrouted"), "--config",
        desktop.installation.directory.file("tagroute.conf"),
      ], environment: environment, starter: starter)
    let daemon = daemon
    atEndOfTest { try await daemon.exit(after: SIGTERM) }
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
  }

  /// Plugs a reader in, with its number on the USB bus; nil for the usual one. Returns the path of the device.
  func plug(_ number: Int, device: Int? = nil) async throws -> String {
    let reader = attached[number]
    let device = device ?? Self.firstNumber + number
    await readers.plug(reader.id, device: UInt8(device))
    return try await testbed.plugCardReader(
      "1-\(number + 1)", reader.model.usbIdentity, interfaces: reader.model.slots.map(\.interfaceName), number: device)
  }

  /// Waits until the daemon has exactly these readers: device strings and states.
  func has(_ readers: [String: String]) async throws {
    try await desktop.status { status in
      Dictionary(status.readers.map { ($0.device, $0.state) }) { first, _ in first } == readers
    }
  }

  /// Waits until the only reader has failed, and returns the reason.
  func failure() async throws -> (device: String, reason: String) {
    let status = try await desktop.status { $0.readers.count == 1 && $0.readers[0].state == "failed" }
    return (status.readers[0].device, status.readers[0].stateReason)
  }

  /// Plugs in a reader that no program can drive, and unplugs it. Then the daemon has handled all earlier events.
  func settle() async throws {
    let path = try await testbed.plugUSB("1-9", "04cc:2533", number: 9)
    try await desktop.status { $0.readers.contains { $0.device == "pn53x_usb:001:009" && $0.state == "failed" } }
    try await testbed.unplug(path)
    try await desktop.status { !$0.readers.contains { $0.device == "pn53x_usb:001:009" } }
  }

  /// Puts the tag with this number on a contactless reader. Its notification has to be the next one of a tap.
  func announces(_ tag: Int, on number: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let slot = attached[number].slot
    await readers.removeAll(from: slot)
    try await readers.insert(SimulatedCard(try Tag(tag).simulated), into: slot)
    let shown = try await desktop.within("a notification of a tap") { [server] in try await server.nextTap() }
    #expect(shown.body == Tag.text(tag), sourceLocation: sourceLocation)
  }
}
