import Bus
import EventLoop
import Glibc
import Names
import ReaderProtocol
import TestKit
import Testing

/// The real `tagrouted` and the real libudev, with devices that umockdev makes.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled(
    if: DeviceTestbed.isPossible,
    "libudev receives no events here, because udev does not run and /dev is no devtmpfs: hotplug is NOT TESTED"))
struct HotplugTests {
  /// The daemon with the real reader process, which cannot open any of these devices.
  private struct Rig {
    let testbed: DeviceTestbed
    let directory: TemporaryDirectory
    let bus: PrivateBus
    let daemon: ChildProcess
    let client: AgentDouble

    init(
      devices: String = "", starter: String = #function, before: (DeviceTestbed) async throws -> Void = { _ in }
    ) async throws {
      testbed = try await DeviceTestbed(starter: starter)
      try await before(testbed)
      directory = try TemporaryDirectory()
      bus = try await PrivateBus.start(type: "system", starter: starter)
      let text = "[Reader]\nDevices=\(devices)\n[Scan]\nSessions=any\n"
      let configuration = try directory.write(text, to: "tagroute.conf")
      daemon = try ChildProcess(
        try BuiltProducts.program("tagrouted"), ["--config", configuration],
        environment: [
          "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "STATE_DIRECTORY": directory.file("state"), "TAGROUTE_LOG": "debug",
          "PATH": "/usr/bin:/bin",
        ].merging(testbed.environment) { $1 },
        starter: starter)
      client = try await AgentDouble(on: bus)
      for await owner in try await client.connection.owners(of: Names.Daemon.busName) where owner != nil { break }
    }

    /// Waits for the expected readers. Returns their properties by the last part of their paths.
    func readers(
      _ isExpected: @escaping ([String: [String: Value]]) -> Bool
    ) async throws -> [String: [String: Value]] {
      let path = try ObjectPath(Names.Daemon.path)
      let changes = try await client.connection.signals(
        MatchRule(sender: Names.Daemon.busName, pathNamespace: path, member: "PropertiesChanged"))
      var iterator = changes.makeAsyncIterator()
      while true {
        let present = try await readers()
        if isExpected(present) { return present }
        guard await iterator.next() != nil else { throw RigError("the bus is gone; the readers were \(present)") }
      }
    }

    private func readers() async throws -> [String: [String: Value]] {
      let reply = try await client.connection.call(
        Names.Daemon.busName, ObjectPath(Names.Daemon.path), "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
      guard case .dictionary(_, _, let objects) = reply.first else { throw RigError("GetManagedObjects: \(reply)") }
      var readers: [String: [String: Value]] = [:]
      for object in objects {
        guard let path = object.key.asObjectPath?.string, case .dictionary(_, _, let interfaces) = object.value,
          let properties = interfaces.first(where: { $0.key.asString == Names.Daemon.readerInterface })
        else { continue }
        readers[String(path.dropFirst(Names.Daemon.readersPath.count + 1))] = properties.value.asDictionary ?? [:]
      }
      return readers
    }

    /// The reader processes, without the short-lived process that asks libnfc for the readers in its configuration.
    func readerProcesses() throws -> [ForeignProcess] {
      try daemon.children().filter { $0.commandLine.contains("--link") && !$0.commandLine.contains("--list") }
    }

    func objectSignals(_ member: String) async throws -> SignalStream {
      try await client.connection.signals(
        MatchRule(
          sender: Names.Daemon.busName, path: try ObjectPath(Names.Daemon.path),
          interface: "org.freedesktop.DBus.ObjectManager", member: member))
    }
  }

  private static func states(_ readers: [String: [String: Value]]) -> Set<String?> {
    Set(readers.values.map { $0["State"]?.asString })
  }

  @Test func `a reader on a hub of another seat exists until it is unplugged`() async throws {
    let rig = try await Rig()
    let added = try await rig.objectSignals("InterfacesAdded")
    let removed = try await rig.objectSignals("InterfacesRemoved")
    let hub = try await rig.testbed.plugUSB("1-1", "1d6b:0002", number: 2, seat: "seat1")
    let path = try await rig.testbed.plugUSB("1-1.1", "072f:2200", number: 5, on: hub)
    let reader = try #require(try await rig.readers { $0["0"]?["State"]?.asString == "failed" }["0"])
    #expect(reader["Device"]?.asString == "acr122_usb:001:005")
    #expect(reader["Seat"]?.asString == "seat1")
    #expect(reader["StateReason"]?.asString?.isEmpty == false)
    let object = try ObjectPath("\(Names.Daemon.readersPath)/0")
    for await signal in added where signal.arguments.first?.asObjectPath == object { break }
    let processes = try rig.readerProcesses()
    #expect(processes.count == 1)
    try await rig.testbed.unplug(path)
    for await signal in removed where signal.arguments.first?.asObjectPath == object { break }
    #expect(try await rig.readers { $0.isEmpty }.isEmpty)
    try await rig.daemon.line(containing: "reader acr122_usb:001:005 is gone")
    // Its process ends too.
    for process in processes { try await process.end() }
  }

  @Test func `the kernel module that holds a reader is shown until it releases it, and logged once`() async throws {
    let rig = try await Rig()
    let path = try await rig.testbed.plugUSB("1-1", "04cc:2533", number: 5, driver: "pn533_usb")
    let expected =
      "it is taken by the kernel module pn533_usb: sudo modprobe -r pn533_usb, and blacklist it in /etc/modprobe.d"
    _ = try await rig.readers { $0["0"]?["StateReason"]?.asString == expected }
    try await rig.daemon.line(containing: "reader pn53x_usb:001:005 has failed: \(expected)")
    // With each repeated `add` event the process looks again, but the daemon does not log the reason again.
    for _ in 1...3 { try await rig.testbed.event(path, "add") }
    try await rig.testbed.unbind(path)
    _ = try await rig.readers { $0["0"]?["StateReason"]?.asString?.contains("does not answer") == true }
    #expect(await rig.daemon.log().count { $0.contains("modprobe -r") } == 1)
  }

  @Test func `a configured reader is absent until it is plugged in`() async throws {
    let rig = try await Rig(devices: "acr122_usb")
    let absent = try await rig.readers { $0["0"]?["StateReason"]?.asString == "it is not plugged in" }
    #expect(absent["0"]?["State"]?.asString == "absent")
    let path = try await rig.testbed.plugUSB("1-1", "072f:2200", number: 5, seat: "seat1")
    let failed = try await rig.readers { Self.states($0) == ["failed"] }
    #expect(failed["0"]?["Device"]?.asString == "acr122_usb")
    #expect(failed["0"]?["Seat"]?.asString == "seat1")
    // The process receives the name of the exact device.
    #expect(try rig.readerProcesses().contains { $0.commandLine.contains("acr122_usb:001:005") })
    try await rig.testbed.unplug(path)
    #expect(try await rig.readers { Self.states($0) == ["absent"] }["0"]?["Device"]?.asString == "acr122_usb")
  }

  @Test func `pcscd is named if it runs and holds the reader`() async throws {
    let rig = try await Rig { testbed in
      try testbed.runtime.write("", to: "pcscd/pcscd.comm")
      try testbed.runtime.write("", to: "systemd/system/.keep")
      _ = try await testbed.plugUSB("1-1", "072f:2200", number: 5, driver: "usbfs")
      _ = try await testbed.plugUSB("1-2", "072f:2200", number: 6)
    }
    let readers = try await rig.readers { $0.count == 2 && Self.states($0) == ["failed"] }
    let reasons = Dictionary(
      uniqueKeysWithValues: readers.values.map { ($0["Device"]?.asString ?? "", $0["StateReason"]?.asString ?? "") })
    #expect(reasons["acr122_usb:001:005"]?.contains("probably pcscd: sudo systemctl disable --now") == true)
    #expect(reasons["acr122_usb:001:006"]?.contains("pcscd") == false)
  }

  @Test func `a lent reader that is plugged in again is still lent`() async throws {
    let testbed = try await DeviceTestbed()
    let device = try await testbed.plugUSB("1-1", "072f:2200", number: 5)
    let rig = try await DaemonRig(
      sessions: nil, devices: "", environment: testbed.environment,
      allowing: DaemonRig.clientActions, readyLine: "reader Scripted (acr122_usb:001:005) is ready")
    let agent = try await rig.agent()
    do {
      async let reply = agent.borrowReader()
      try await rig.lending(true)
      await rig.reader.reach()
      let inhibitor = try await reply
      try await testbed.unplug(device)
      _ = try await testbed.plugUSB("1-1", "072f:2200", number: 6)
      // The new process receives this goal before it opens the device.
      try await rig.lending(true)
      await rig.reader.reach()
      withExtendedLifetime(inhibitor) {}
    }
    try await rig.lending(false)
  }

  @Test func `another reader at the port of a lent reader is not lent`() async throws {
    let testbed = try await DeviceTestbed()
    let device = try await testbed.plugUSB("1-1", "072f:2200", number: 5)
    let rig = try await DaemonRig(
      sessions: nil, devices: "acr122_usb;pn53x_usb", others: ["pn53x_usb", "pn53x_usb:001:007"],
      environment: testbed.environment, allowing: DaemonRig.clientActions,
      readyLine: "reader Scripted (acr122_usb) is ready")
    let agent = try await rig.agent()
    do {
      async let reply = agent.borrowReader()
      try await rig.lending(true)
      await rig.reader.reach()
      let inhibitor = try await reply
      try await testbed.unplug(device)
      _ = try await testbed.plugUSB("1-1", "04cc:2533", number: 7)
      await rig.others[1].becomeReady()
      try await rig.daemon.line(containing: "reader Scripted (pn53x_usb) is ready")
      withExtendedLifetime(inhibitor) {}
    }
    var isLent = false
    for await command in rig.others[1].commands {
      if command.goal == .lent { isLent = true }
      if isLent || command.isScan == true { break }
    }
    #expect(!isLent)
  }

  @Test func `without udev the daemon says so once and works`() async throws {
    let rig = try await DaemonRig()
    #expect(await rig.daemon.log().count { $0.contains("udev does not run") } == 1)
    #expect(await !rig.daemon.log().contains { $0.contains("listen to udev") })
  }

  @Test func `a configured reader looks at once when its serial line appears or disappears`() async throws {
    let testbed = try await DeviceTestbed()
    let rig = try await DaemonRig(sessions: nil, environment: testbed.environment)
    let tty = try await testbed.add("scripted", "tty", ["DEVNAME=/dev/scripted", "ID_SEAT=seat3"])
    try await testbed.event(tty, "add")
    for await command in rig.reader.commands where command == .lookForDevice { break }
    try await rig.daemon.line(containing: "reader Scripted (pn532_uart:/dev/scripted) is on seat3")
    let agent = try await rig.agent()
    #expect(try await agent.property("Readers")?.asObjectPaths?.count == 1)
    try await rig.scanning(true)
    try await testbed.unplug(tty)
    for await command in rig.reader.commands where command == .lookForDevice { break }
    // The reader stays on the bus.
    await rig.reader.send(.state(.absent(reason: "unplugged")))
    try await rig.scanning(false)
    #expect(try await agent.property("Readers")?.asObjectPaths?.count == 1)
    try await testbed.event(try await testbed.add("scripted", "tty", ["DEVNAME=/dev/scripted"]), "add")
    try await rig.scanning(true)
  }
}
