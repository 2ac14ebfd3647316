import Daemon
import EventLoop
import Glibc
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct StoppingTests {
  /// The answer of the chip is later than usual, or later than libnfc waits for it.
  @Test(arguments: [Duration.milliseconds(650), .milliseconds(1300)])
  func `the field is off after a stop in the middle of a slow exchange`(delay: Duration) async throws {
    let rig = try await readingSlowly(delay)
    await rig.process.stop()
    #expect(await !rig.simulator.isFieldOn)
  }

  /// A SIGTERM to all processes of the service also reaches the daemon, which then stops its reader process.
  @Test func `SIGTERM together with a stop by the daemon ends the process`() async throws {
    let rig = try await readingSlowly(.milliseconds(650))
    let child = try #require(await rig.process.processID)
    kill(child, SIGTERM)
    await rig.process.stop()
    #expect(await !rig.simulator.isFieldOn)
    #expect(await rig.process.processID == nil)
    // It is not even a zombie.
    #expect(kill(child, 0) == -1 && errno == ESRCH)
  }

  @Test func `a process switches the field off when its daemon disappears`() async throws {
    let simulator = try await SimulatedReader.start()
    let (child, daemon) = try await start(on: simulator)
    tell(daemon, .goal(epoch: 1, .scan(ReaderPolling()), known: KnownTags()))
    try await simulator.wait { $0.isFieldOn && $0.counters.commands > 30 }
    shutdown(daemon.rawValue, Int32(SHUT_RDWR))
    try await child.end()
    #expect(await !simulator.isFieldOn)
    #expect(await simulator.rate == 115_200)
    var status: Int32 = 0
    waitpid(child.identifier, &status, 0)
    await simulator.stop()
  }

  enum Occupation: CaseIterable { case asleep, looking, watching }

  /// Otherwise the alarm of the process would end it much later, with another signal.
  @Test(arguments: Occupation.allCases)
  func `SIGTERM alone ends a process that does not hang`(_ occupation: Occupation) async throws {
    let simulator = try await SimulatedReader.start()
    let (child, daemon) = try await start(on: simulator)
    if occupation == .watching { await simulator.place(try .type2(.ntag213, message: uri("https://example.com"))) }
    if occupation == .asleep {
      try await simulator.wait { $0.counters.commands > 10 && !$0.isFieldOn }
    } else {
      tell(daemon, .goal(epoch: 1, .scan(ReaderPolling()), known: KnownTags()))
      try await simulator.wait { $0.isFieldOn && $0.counters.commands > 30 }
    }
    child.signal(SIGTERM)
    try await child.end()
    #expect(await !simulator.isFieldOn)
    #expect(await simulator.rate == 115_200)
    var status: Int32 = -1
    waitpid(child.identifier, &status, 0)
    #expect(status == 0)
    await simulator.stop()
  }

  /// Starts a process that is linked to this test only.
  private func start(on simulator: SimulatedReader) async throws -> (child: ForeignProcess, daemon: FileDescriptor) {
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    let daemon = FileDescriptor(owning: pair[0])
    let arguments = ["tagroute-reader", "--link", "3", "--device", await simulator.connectionString]
    var spawn = ProcessSpawn(try BuiltProducts.program("tagroute-reader"), arguments: arguments, environment: [])
    spawn.link = FileDescriptor(owning: pair[1])
    return (try ForeignProcess(try spawn.start()), daemon)
  }

  private func tell(_ daemon: borrowing FileDescriptor, _ command: ReaderCommand) {
    let frame = command.frame
    #expect(write(daemon.rawValue, frame, frame.count) == frame.count)
  }

  /// A command that arrives between the looks for all technologies takes effect before the remaining looks.
  @Test func `a command does not wait for the remaining looks`() async throws {
    let rig = try await ReaderRig.scanning()
    try await rig.announces("https://example.com")
    let child = try #require(await rig.process.processID)
    // The first look for a technology other than that of the resting tag.
    let seen = await rig.simulator.commands.count
    try await rig.simulator.wait { simulator in
      guard simulator.commands.dropFirst(seen).contains(where: { $0.command.starts(with: [0x4A, 0x01, 0x03]) }) else {
        return false
      }
      kill(child, SIGSTOP)
      return true
    }
    await rig.setScanning(false)
    let before = await rig.simulator.commands.count
    kill(child, SIGCONT)
    try await rig.expect(.scanning(false))
    let looks = await rig.simulator.commands.dropFirst(before).filter { $0.command.first == 0x4A }
    // The look that was being sent.
    #expect(looks.count <= 1, "\(looks.map(\.description))")
  }

  /// A reader with its field on, in the middle of an exchange with a late answer.
  private func readingSlowly(_ delay: Duration) async throws -> ReaderRig {
    let rig = try await ReaderRig.asleep()
    let before = await rig.simulator.counters.commands
    await rig.simulator.place(
      try .type2(.ntag213, message: uri("https://example.com/a/path/that/needs/more/exchanges")))
    // The commands are: field off, the look, and the first exchange of the reading.
    await rig.simulator.add(.delay(delay, command: 3))
    await rig.setScanning(true)
    try await rig.simulator.wait { $0.counters.commands >= before + 3 }
    #expect(await rig.simulator.isFieldOn)
    return rig
  }
}
