import Glibc
import Names
import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

/// Readers that are plugged in and out, with the real udev library and the real pcscd: which of them the daemon uses,
/// and when it connects to pcscd.
@Suite(
  .timeLimit(.minutes(5)), StopsAtEnd(),
  .enabled(
    if: CardMachine.isPossible,
    "this needs root, and udev or a devtmpfs at /dev: the discovery of PC/SC readers is NOT TESTED"))
struct CardDiscoveryTests {
  private static let picc = "pcsc:ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00"

  @Test func `a reader is there while it is plugged in`() async throws {
    let machine = try await CardMachine([.acr1252U])
    #expect(await !machine.pcscd.isRunning)
    let modules = machine.attached[0].slots[1]
    let card = try await machine.readers.insert(.contact(), into: modules)
    for (tag, number) in [(1, 5), (2, 6)] {
      let path = try await machine.plug(0, device: number)
      try await machine.has([Self.picc: "scanning"])
      try await machine.announces(tag, on: 0)
      try await machine.testbed.unplug(path)
      try await machine.has([:])
      await machine.readers.removeAll(from: machine.attached[0].slot)
    }
    // Its slot for modules was never used.
    #expect(await machine.readers.commands(to: card).isEmpty)
    let requests = await machine.readers.exchanges(in: modules)
    #expect(requests.allSatisfy { [.powerUp, .powerDown].contains($0.kind) }, "\(requests)")
  }

  @Test func `a security key beside a contactless reader gets no command`() async throws {
    let machine = try await CardMachine([.yubiKey, .acr1252U])
    let key = machine.attached[0].slot
    let card = try await machine.readers.insert(.piv(), into: key)
    _ = try await machine.plug(0)
    try await machine.settle()
    #expect(await !machine.pcscd.isRunning)
    let path = try await machine.plug(1)
    await machine.pcscd.started()
    let device = "pcsc:ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 01 00"
    try await machine.has([device: "scanning"])
    for number in 1...5 { try await machine.announces(number, on: 1) }
    #expect(await machine.readers.commands(to: card).isEmpty)
    let requests = await machine.readers.exchanges(in: key)
    #expect(requests.allSatisfy { [.powerUp, .powerDown].contains($0.kind) }, "\(requests)")

    // Without the reader, the daemon leaves pcscd, which may then end (--auto-exit).
    let processes = try machine.daemon.children().filter {
      $0.commandLine.first?.hasSuffix("tagroute-reader-pcsc") == true
    }
    #expect(processes.count == 2)
    try await machine.testbed.unplug(path)
    try await machine.has([:])
    for process in processes { try await process.end() }
  }

  @Test func `a pcscd that ends and starts is noticed`() async throws {
    let machine = try await CardMachine([.acr1252U], isOnDemand: false)
    _ = try await machine.plug(0)
    try await machine.has([Self.picc: "scanning"])
    try await machine.announces(1, on: 0)
    await machine.pcscd.stop()
    // The process of the reader has said before that pcscd has ended.
    let status = try await machine.desktop.status {
      $0.readers.first?.state == "failed" && $0.readers[0].stateReason.contains("pcscd does not run")
    }
    #expect(status.readers.map(\.device) == [Self.picc])
    #expect(status.readers.first?.stateReason.contains("sudo systemctl enable --now pcscd.socket") == true)
    try await machine.pcscd.restart()
    try await machine.has([Self.picc: "scanning"])
    // The resting tag is not announced a second time. While the counter is 0, libpcsclite does not see that a card was
    // swapped if it looks only afterwards.
    let seen = await machine.daemon.log().count
    await machine.readers.removeAll(from: machine.attached[0].slot)
    try await machine.daemon.line(containing: Desktop.tagAway, after: seen)
    try await machine.announces(2, on: 0)
  }
}

/// A machine with udev, USB devices and pcscd on its standard socket. All but the programs is simulated: the daemon
/// finds readers as on a real machine, and connects to pcscd only for one of them.
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
  /// `models` are readers that can be plugged in. `settings` are lines of the group `[Reader]`. `isOnDemand`: whether
  /// pcscd starts only when a client connects.
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
