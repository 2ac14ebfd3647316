import EventLoop
import Glibc
import ReaderLink
import ReaderSimulator
import Rig
import Testing

/// Processes that are told to end in the middle of something.
@Suite(.timeLimit(.minutes(5))) struct StoppingTests {
  /// Later than the chip's answer usually is, and later than libnfc waits for it.
  @Test(arguments: [Duration.milliseconds(650), .milliseconds(1300)])
  func theFieldIsOffAfterAStopInTheMiddleOfASlowExchange(delay: Duration) async throws {
    let rig = try await readingSlowly(delay)
    await rig.process.stop()
    #expect(await !rig.simulator.isFieldOn)
    await rig.stop()
  }

  /// systemd tells all processes of a service at once, and the daemon tells its own.
  @Test func sigtermLeavesTheEndToTheDaemon() async throws {
    let rig = try await readingSlowly(.milliseconds(650))
    let child = try #require(await rig.process.processID)
    kill(child, SIGTERM)
    await rig.process.stop()
    #expect(await !rig.simulator.isFieldOn)
    #expect(await rig.process.processID == nil)
    await rig.stop()
  }

  @Test func aProcessWhoseDaemonIsGoneLeavesNoFieldOn() async throws {
    let simulator = try await SimulatedReader.start()
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    let daemon = FileDescriptor(owning: pair[0])
    let arguments = ["tagroute-reader", "--link", "3", "--device", await simulator.connectionString]
    var spawn = ProcessSpawn(try BuiltProducts.program("tagroute-reader"), arguments: arguments, environment: [])
    spawn.link = FileDescriptor(owning: pair[1])
    let child = try ForeignProcess(try spawn.start())
    spawn.link = nil
    let frame = ReaderCommand.scan(true).frame
    #expect(write(daemon.rawValue, frame, frame.count) == frame.count)
    await simulator.wait { $0.isFieldOn && $0.counters.commands > 30 }
    shutdown(daemon.rawValue, Int32(SHUT_RDWR))
    try await child.end()
    #expect(await !simulator.isFieldOn)
    var status: Int32 = 0
    waitpid(child.identifier, &status, 0)
    await simulator.stop()
  }

  /// A reader in the middle of an exchange whose answer is late, the field on.
  private func readingSlowly(_ delay: Duration) async throws -> ReaderRig {
    let rig = try await ReaderRig()
    try await rig.isReady()
    try await rig.isAsleep()
    let before = await rig.simulator.counters.commands
    await rig.simulator.place(
      try .type2(.ntag213, message: uri("https://example.com/a/path/that/needs/more/exchanges")))
    // Field off, the look, and the first exchange of reading.
    await rig.simulator.add(.delay(delay, command: 3))
    await rig.process.setScanning(true)
    await rig.simulator.wait { $0.counters.commands >= before + 3 }
    #expect(await rig.simulator.isFieldOn)
    return rig
  }
}
