import Bus
import EventLoop
import Glibc
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import Daemon
@testable import DaemonTests

/// The real `tagrouted`: how it starts and how it ends.
@Suite(.timeLimit(.minutes(5))) struct LifeTests {
  @Test func `without a bus the daemon says so and exits`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("", to: "tagroute.conf")
    let run = try await ChildProcess.run(
      try BuiltProducts.program("tagrouted"), ["--config", file],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(directory.file("bus"))", "STATE_DIRECTORY": directory.path])
    #expect(run.status == .exited(Names.ExitCode.unavailable))
    #expect(run.log.contains { $0.contains("cannot use the system bus") })
  }

  @Test(arguments: [["pn532_uart:/dev/scripted"], nil])
  func `readers that are not configured are found at the start or later`(found: [String]?) async throws {
    let rig = try await DaemonRig(devices: "", found: found)
    let agent = try await rig.startScanning()
    #expect(try await agent.property("Readers")?.asObjectPaths?.map(\.string) == ["\(Names.Daemon.readersPath)/0"])
    await rig.reader.tap(.message(Samples.message))
    #expect(try await agent.taps.nextMessage() == Samples.message)
  }

  /// A reader process runs as the same user, and may have only what the daemon gives it.
  @Test func `no other process of the same user can open the memory of the daemon`() async throws {
    let bus = try await PrivateBus.start(type: "system")
    let directory = try TemporaryDirectory()
    // In /proc the files of a process that cannot be dumped belong to root. If the daemon ran as root, the test would
    // always pass.
    let lowered = getuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : ""
    let program = try directory.write(
      "#!/bin/sh\nexec \(lowered) \(try BuiltProducts.program("tagrouted")) \"$@\"\n", to: "tagrouted", mode: 0o755)
    let file = try directory.write("[Reader]\nDevices=pn532_uart:/dev/nothing\n", to: "tagroute.conf")
    let socket = String(bus.address.dropFirst("unix:path=".count).prefix { $0 != "," })
    for open in [directory.path, String(socket.dropLast("/bus".count)), socket] { #expect(chmod(open, 0o777) == 0) }
    let daemon = try ChildProcess(
      program, ["--config", file],
      environment: [
        "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "STATE_DIRECTORY": directory.path, "PATH": "/usr/bin:/bin",
      ])
    let client = try await AgentDouble(on: bus)
    for await owner in try await client.connection.owners(of: Names.Daemon.busName) where owner != nil { break }
    var information = stat()
    #expect(stat("/proc/\(daemon.identifier)/environ", &information) == 0)
    #expect(information.st_uid == 0, "the daemon can be dumped")
    let status = String(decoding: try readFile("/proc/\(daemon.identifier)/status"), as: UTF8.self)
    #expect(!status.contains("Uid:\t0\t"), "the daemon runs as root, so this test would always pass")
    #expect(try await daemon.exit(after: SIGTERM) == .exited(0))
  }

  @Test func `a second daemon exits because the bus name has an owner`() async throws {
    let rig = try await DaemonRig()
    let run = try await ChildProcess.run(
      rig.directory.file("tagrouted"), ["--config", rig.directory.file("tagroute.conf")],
      environment: rig.environment)
    #expect(run.status == .exited(Names.ExitCode.alreadyRunning))
    #expect(run.log.contains { $0.contains("another process owns \(Names.Daemon.busName)") })
  }

  @Test func `the daemon reports its status to systemd and ends on SIGTERM`() async throws {
    let directory = try TemporaryDirectory()
    let notifications = try NotifySocket(directory.file("notify"))
    let rig = try await DaemonRig(environment: ["NOTIFY_SOCKET": directory.file("notify"), "WATCHDOG_USEC": "200000"])
    #expect(try await notifications.next { $0.contains("READY=1") }.contains("STATUS=not scanning: "))
    _ = try await notifications.next { $0 == "WATCHDOG=1" }
    let agent = try await rig.startScanning()
    _ = try await notifications.next { $0 == "STATUS=scanning" }
    rig.daemon.signal(SIGTERM)
    _ = try await notifications.next { $0.hasPrefix("STOPPING=1") }
    #expect(try await rig.daemon.exit() == .exited(0))
    // The daemon asked the reader process to shut down, and did not just kill it.
    for await command in rig.reader.commands where command == .shutDown { break }
    await agent.connection.close()
  }
}

/// The real `tagrouted` on SIGHUP.
@Suite(.timeLimit(.minutes(5))) struct ReloadTests {
  private static let other = "pn532_uart:/dev/other"
  private static let first = "pn532_uart:/dev/scripted"
  private static let isRead = "the configuration was read again: "
  private static let nothing = isRead + "no changes"

  @Test func `a reload adds and removes readers, and leaves the others untouched`() async throws {
    let rig = try await DaemonRig(others: ["other"])
    let other = try #require(rig.others.first)
    let agent = try await rig.startScanning()
    try await rig.reload(devices: "\(Self.first);\(Self.other)", expecting: Self.isRead + "changed: Devices")
    await other.becomeReady()
    for await command in other.commands where command.isScan == true { break }
    let readers = try await agent.property("Readers")?.asObjectPaths?.map(\.string)
    #expect(readers == ["\(Names.Daemon.readersPath)/0", "\(Names.Daemon.readersPath)/1"])
    await rig.reader.tap(.message(Samples.message))
    #expect(try await agent.taps.next()["reader"]?.asObjectPath?.string == "\(Names.Daemon.readersPath)/0")
    try await rig.reload(devices: Self.other, expecting: Self.isRead + "changed: Devices")
    for await command in rig.reader.commands {
      if case .shutDown = command { break }
      #expect(command.isScan != false, "\(command)")
    }
    await other.tap(.message(Samples.message))
    #expect(try await agent.taps.next()["reader"]?.asObjectPath?.string == "\(Names.Daemon.readersPath)/1")
    #expect(try await agent.property("Readers")?.asObjectPaths?.count == 1)
  }

  @Test func `the reader process and the clients learn of new technologies`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    let reader = try ObjectPath("\(Names.Daemon.readersPath)/0")
    let changes = try await agent.connection.signals(
      MatchRule(sender: Names.Daemon.busName, path: reader, member: "PropertiesChanged"))
    try rig.write(reader: "Technologies=type-4a;type-2\nPollInterval=500")
    rig.daemon.signal(SIGHUP)
    let polling = try await rig.command { command -> ReaderPolling? in
      if case .scan(let polling)? = command.goal { polling } else { nil }
    }
    let expected = ReaderPolling(
      interval: .milliseconds(500), idleInterval: .milliseconds(250), technologies: [.type2, .type4A])
    #expect(polling == expected)
    for await change in changes {
      guard let technologies = change.arguments[1].asDictionary?["Technologies"] else { continue }
      #expect(technologies.asStrings == ["type-2", "type-4a"])
      break
    }
    // The process is still the same, and it scans.
    await rig.reader.tap(.message(Samples.message))
    #expect(try await agent.taps.nextMessage() == Samples.message)
    // A process that starts later receives the same goal.
    let child = try #require(try rig.daemon.children().first)
    child.signal(SIGKILL)
    try await rig.daemon.line(containing: "killed by signal 9")
    let next = try await rig.command { $0.goal }
    #expect(next == .scan(expected))
  }

  @Test func `a broken file keeps the previous configuration and is reported`() async throws {
    let directory = try TemporaryDirectory()
    let notifications = try NotifySocket(directory.file("notify"))
    let rig = try await DaemonRig(environment: ["NOTIFY_SOCKET": directory.file("notify")])
    let agent = try await rig.startScanning()
    let time = try #require(try await agent.property("ConfigurationTime")?.asUInt64)
    #expect(try await agent.property("ConfigurationError")?.asString == "")
    try rig.directory.write("[Reader]\nDevices=\(Self.other)\n[Scan]\nSesions=any\n", to: "tagroute.conf")
    rig.daemon.signal(SIGHUP)
    let mistake = "tagroute.conf:4: group [Scan] has no key Sesions: did you mean Sessions?"
    #expect(try await notifications.next { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") }.count > 30)
    #expect(try await notifications.next { $0.contains("READY=1") }.contains(mistake))
    try await rig.daemon.line(containing: "\(mistake); until then the previous configuration stays in force")
    #expect(try await agent.property("ConfigurationError")?.asString?.hasSuffix(mistake) == true)
    #expect(try await agent.property("ConfigurationTime")?.asUInt64 == time)
    await rig.reader.tap(.message(Samples.message))
    #expect(try await agent.taps.nextMessage() == Samples.message)
    #expect(try await agent.property("Readers")?.asObjectPaths?.map(\.string) == ["\(Names.Daemon.readersPath)/0"])
    // The corrected file takes effect.
    try await rig.reload(devices: Self.first, expecting: Self.nothing)
    #expect(try await notifications.next { $0.contains("READY=1") }.hasSuffix("STATUS=scanning"))
    #expect(try await agent.property("ConfigurationError")?.asString == "")
    #expect(try #require(try await agent.property("ConfigurationTime")?.asUInt64) > time)
  }

  @Test func `an open reader session survives a reload`() async throws {
    let active = try await DaemonRig.inSession()
    let (rig, client, session) = (active.rig, active.client, active.session)
    try rig.write(reader: "Technologies=type-2", scan: "WhenLocked=hold")
    rig.daemon.signal(SIGHUP)
    try await rig.daemon.line(containing: Self.isRead + "changed: ")
    await rig.reader.find(ReaderSessionTests.tag())
    try await client.expect("TagDetected")
    #expect(try await client.property(session, "State")?.asString == "active")
  }

  @Test func `a configuration that cannot take effect is not applied in part`() async throws {
    let directory = try TemporaryDirectory()
    let notifications = try NotifySocket(directory.file("notify"))
    let rig = try await DaemonRig(
      sessions: nil, others: ["other"], environment: ["NOTIFY_SOCKET": directory.file("notify")])
    let agent = try await rig.startScanning()
    _ = try await notifications.next { $0.contains("READY=1") }
    let time = try #require(try await agent.property("ConfigurationTime")?.asUInt64)
    // The bus accepts no more match rules, but the daemon needs one to follow logind.
    try await rig.limitMatchRules(to: 1)
    try rig.write(devices: "\(Self.first);\(Self.other)")
    rig.daemon.signal(SIGHUP)
    _ = try await notifications.next { $0.contains("RELOADING=1") }
    let next = try await notifications.next { $0.contains("READY=1") || $0.contains("STOPPING=1") }
    let mistake = "the configuration: cannot be applied: Sessions=logind "
    #expect(next.contains("READY=1") && next.contains("the previous configuration is in force: \(mistake)"))
    try await rig.daemon.line(containing: mistake)
    #expect(await rig.daemon.log().contains { $0.hasSuffix("until then the previous configuration stays in force") })
    #expect(try await agent.property("ConfigurationError")?.asString?.hasPrefix(mistake) == true)
    #expect(try await agent.property("ConfigurationTime")?.asUInt64 == time)
    // The daemon applies no part of the file: it serves any session as before, and starts no other reader.
    #expect(try await agent.property("SuspendReasons")?.asStrings == [])
    #expect(access(rig.directory.file("other/arguments"), F_OK) != 0)
    await rig.reader.tap(.message(Samples.message))
    #expect(try await agent.taps.nextMessage() == Samples.message)
    // The failed attempt leaves no trace: once the bus accepts match rules again, the next reload works.
    try await rig.limitMatchRules(to: 512)
    try rig.write()
    rig.daemon.signal(SIGHUP)
    try await rig.daemon.line(containing: Self.isRead + "changed: Sessions")
    _ = try await notifications.next { $0.contains("READY=1") }
    #expect(try await agent.property("ConfigurationError")?.asString == "")
    #expect(try await agent.property("SuspendReasons")?.asStrings?.contains("no-session") == true)
  }

  @Test func `many reload signals at once are handled, also during the shutdown`() async throws {
    let rig = try await DaemonRig()
    for _ in 1...50 { rig.daemon.signal(SIGHUP) }
    try await rig.daemon.line(containing: Self.nothing)
    // The daemon reads the file after the last signal.
    try rig.write(reader: "PollInterval=500")
    rig.daemon.signal(SIGHUP)
    try await rig.daemon.line(containing: Self.isRead + "changed: PollInterval")
    #expect(await rig.daemon.log().count { $0.contains("changed: ") } == 1)
    // During its shutdown the daemon does not reload, and the signal does no harm.
    rig.daemon.signal(SIGTERM)
    for _ in 1...50 { rig.daemon.signal(SIGHUP) }
    #expect(try await rig.daemon.exit() == .exited(0))
  }

  @Test func `a reload signal during the start is handled after it`() async throws {
    var rig = try await DaemonRig()
    try await rig.daemon.exit(after: SIGTERM)
    // The daemon logs this line after it has read the configuration, and before it talks to the bus, which is stopped.
    try rig.directory.write("neither yes nor no", to: "state/enabled")
    await rig.bus.signal(SIGSTOP)
    try rig.startDaemon()
    try await rig.daemon.line(containing: "state/enabled")
    try rig.write(reader: "PollInterval=500")
    rig.daemon.signal(SIGHUP)
    await rig.bus.signal(SIGCONT)
    await rig.reader.becomeReady()
    try await rig.daemon.line(containing: Self.isRead + "changed: PollInterval")
    #expect(await rig.daemon.log().count { $0.contains(Self.isRead) } == 1)
  }

  @Test func `the option --check reports errors without a bus`() async throws {
    let directory = try TemporaryDirectory()
    let program = try BuiltProducts.program("tagrouted")
    for (line, mistake) in [
      ("Sesions=any", "group [Scan] has no key Sesions: did you mean Sessions?"),
      (
        "StationUser=no-such-user-here",
        "StationUser=no-such-user-here is no user of this machine: correct the name, or create the user first; the "
          + "package tagroute-station creates tagroute-station"
      ),
    ] {
      let file = try directory.write("[Scan]\n\(line)\n", to: "tagroute.conf")
      let wrong = try await ChildProcess.run(program, ["--check", "--config", file], environment: [:])
      #expect(wrong.status == .exited(Names.ExitCode.configuration))
      #expect(wrong.log == ["tagrouted: \(file):2: \(mistake)"])
    }
    let file = try directory.write("[Scan]\nSessions=any\n", to: "tagroute.conf")
    let right = try await ChildProcess.run(program, ["--check", "--config", file], environment: [:])
    #expect(right.status == .exited(0) && right.log.isEmpty && right.output.isEmpty)
  }
}

extension DaemonRig {
  /// Limits each connection to the bus to this number of match rules. Existing rules stay.
  fileprivate func limitMatchRules(to count: Int) async throws {
    try await bus.limitMatchRules(to: count)
    let client = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "test-client"))
    _ = try await client.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
  }

  /// Replaces the configuration. By default it names the device that the rig started with.
  fileprivate func write(
    devices: String = "pn532_uart:/dev/scripted", reader: String = "", scan: String = "Sessions=logind"
  ) throws {
    try directory.write(
      "[Reader]\nDevices=\(devices)\n\(reader)\n[Scan]\nRemovalDelay=0\n\(scan)\n", to: "tagroute.conf")
  }

  /// Names other devices in the configuration, reloads it, and waits for the line in the log.
  fileprivate func reload(devices: String, expecting line: String) async throws {
    let seen = await daemon.log().count
    try write(devices: devices)
    daemon.signal(SIGHUP)
    try await daemon.line(containing: line, after: seen)
  }
}
