import Bus
import EventLoop
import Glibc
import Names
import ReaderLink
import TestSupport
import Testing

/// The real `tagrouted`: how it starts and how it ends.
@Suite(.timeLimit(.minutes(5))) struct LifeTests {
  @Test func aMistakeInTheConfigurationIsNamedAndEndsWith78() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("[Scan]\n\nSesions=any\n", to: "tagroute.conf")
    let run = try await ChildProcess.run(try BuiltProducts.program("tagrouted"), ["--config", file])
    #expect(run.status == .exited(Names.ExitCode.configuration))
    #expect(run.log == ["tagrouted: \(file):3: group [Scan] has no key Sesions: did you mean Sessions?"])
  }

  @Test func helpAndVersionAndUsage() async throws {
    let program = try BuiltProducts.program("tagrouted")
    let version = try await ChildProcess.run(program, ["--version"])
    #expect(version.output == "tagrouted \(Names.version)\n")
    let help = try await ChildProcess.run(program, ["--help"])
    #expect(help.status == .exited(0))
    #expect(help.output.hasPrefix("usage: tagrouted"))
    let wrong = try await ChildProcess.run(program, ["--wrong"])
    #expect(wrong.status == .exited(Names.ExitCode.usage))
  }

  @Test func withoutABusItSaysSo() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("", to: "tagroute.conf")
    let run = try await ChildProcess.run(
      try BuiltProducts.program("tagrouted"), ["--config", file],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(directory.file("bus"))", "STATE_DIRECTORY": directory.path])
    #expect(run.status == .exited(Names.ExitCode.unavailable))
    #expect(run.log.contains { $0.contains("cannot use the system bus") })
  }

  @Test(arguments: ["pn532_uart:/dev/scripted\n", nil])
  func readersThatAreNotConfiguredAreFoundNowOrLater(found: String?) async throws {
    let rig = try await DaemonRig(devices: "", found: found)
    let agent = try await rig.agent()
    try await rig.scanning(true)
    #expect(try await agent.property("Readers")?.asObjectPaths?.map(\.string) == ["\(Names.Daemon.readersPath)/0"])
    await rig.reader.tap(.message(Samples.message))
    for await tap in agent.taps {
      #expect(tap["message"]?.asBytes == Samples.message)
      break
    }
  }

  @Test func aSecondDaemonEndsAndNamesTheFirst() async throws {
    let rig = try await DaemonRig()
    let run = try await ChildProcess.run(
      rig.directory.file("tagrouted"), ["--config", rig.directory.file("tagroute.conf")],
      environment: rig.environment)
    #expect(run.status == .exited(Names.ExitCode.alreadyRunning))
    #expect(run.log.contains { $0.contains("another process owns \(Names.Daemon.busName)") })
  }

  @Test func itTellsSystemdAndEndsWhenItIsTold() async throws {
    let directory = try TemporaryDirectory()
    let notifications = try NotifySocket(directory.file("notify"))
    let rig = try await DaemonRig(
      environment: ["NOTIFY_SOCKET": directory.file("notify"), "WATCHDOG_USEC": "200000"])
    #expect(try await notifications.next { $0.contains("READY=1") }.contains("STATUS=not scanning: "))
    _ = try await notifications.next { $0 == "WATCHDOG=1" }
    let agent = try await rig.agent()
    try await rig.scanning(true)
    _ = try await notifications.next { $0 == "STATUS=scanning" }
    rig.daemon.signal(SIGHUP)
    try await rig.daemon.line(containing: "SIGHUP")
    rig.daemon.signal(SIGTERM)
    _ = try await notifications.next { $0.hasPrefix("STOPPING=1") }
    #expect(try await rig.daemon.exit() == .exited(0))
    // The reader was asked to shut down, not just killed.
    for await command in rig.reader.commands where command == .shutDown { break }
    await agent.connection.close()
  }
}

/// What a service tells systemd, one message a datagram.
private final class NotifySocket: Sendable {
  private let messages: AsyncStream<String>
  private let watch: DescriptorWatch
  private let loop = EventLoop(label: "notify")

  init(_ path: String) throws {
    let descriptor = FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw SystemError("bind \(path)") }
    let (messages, continuation) = AsyncStream.makeStream(of: String.self)
    self.messages = messages
    watch = try DescriptorWatch(descriptor, on: loop) {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { continuation.yield(String(decoding: buffer[..<count], as: UTF8.self)) }
    }
  }

  func next(where matches: (String) -> Bool) async throws -> String {
    for await message in messages where matches(message) { return message }
    throw RigError("systemd was not told")
  }
}
