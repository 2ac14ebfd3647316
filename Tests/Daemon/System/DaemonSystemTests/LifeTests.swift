import Bus
import Glibc
import Names
import ReaderProtocol
import TestKit
import Testing

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

  @Test(arguments: ["pn532_uart:/dev/scripted\n", nil])
  func `readers that are not configured are found at the start or later`(found: String?) async throws {
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
