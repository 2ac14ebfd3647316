import Daemon
import EventLoop
import Names
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

/// Runs the real reader process on a simulated reader and reads its events.
final class ReaderRig: ReaderProcessRig {
  let simulator: SimulatedReader
  private let directory: TemporaryDirectory

  /// `rate` is what follows the path in the name of the device.
  init(
    isPluggedIn: Bool = true, rate: String = "", isBridged: Bool = false, pollInterval: Duration = .milliseconds(20),
    fault: Fault? = nil, technologies: [TagType] = TagType.readable, timing: TimingModel = .immediate,
    isFollowed: Bool = false, environment: [String] = [], wakesTypeB: Bool = true, recording: TraceReplay? = nil,
    loop: EventLoop = EventLoop(label: "daemon")
  ) async throws {
    directory = try TemporaryDirectory()
    let simulator = try await SimulatedReader.start(
      timing: timing, link: directory.file("reader"), wakesTypeB: wakesTypeB, isBridged: isBridged,
      recording: recording)
    atEndOfTest { await simulator.stop() }
    if !isPluggedIn { await simulator.unplug() }
    if let fault { await simulator.add(fault) }
    self.simulator = simulator
    super.init(
      ReaderProcess.Configuration(
        program: try BuiltProducts.program("tagroute-reader"), device: await simulator.connectionString + rate,
        isFollowed: isFollowed, environment: environment),
      ReaderPolling(interval: pollInterval, technologies: technologies),
      Reader(
        place: { await simulator.place($0) }, remove: { await simulator.remove($0) },
        trace: { await simulator.commands.suffix(60).map(\.description).joined(separator: "\n") }),
      loop: loop)
    await process.start()
  }

  static func scanning(loop: EventLoop = EventLoop(label: "daemon")) async throws -> ReaderRig {
    let rig = try await ReaderRig(loop: loop)
    try await rig.scan(true)
    return rig
  }

  /// The reader is ready, and its process sleeps.
  static func asleep(isFollowed: Bool = false) async throws -> ReaderRig {
    let rig = try await ReaderRig(isFollowed: isFollowed)
    try await rig.isReady()
    try await rig.isAsleep()
    return rig
  }

  /// A rig that waits for a ready reader and begins a session.
  static func inSession(
    _ options: TagSessionOptions = TagSessionOptions(number: 1), timing: TimingModel = .immediate
  ) async throws -> ReaderRig {
    let rig = try await ReaderRig(timing: timing)
    try await rig.isReady()
    try await rig.begin(options)
    return rig
  }

  /// Lends the device, and waits until that is in force.
  func startLoan() async throws {
    await lend(true)
    try await expect(.lent(true))
  }

  /// Plugs the reader in again, and tells the process.
  func plugAgain() async throws {
    await simulator.unplug()
    try await simulator.plug()
    await process.lookForDevice()
  }

  func stop() async {
    await process.stop()
    await simulator.stop()
  }

  /// Expects that the resting tag is never announced and that the next tag is.
  func announcesOnlyWhatComesNow() async throws {
    try await commands(20)
    await simulator.removeAll()
    try await commands(20)
    try await announces("https://example.com/after")
  }

  /// Waits until the chip has received `count` more commands, to let the process do that much work.
  func commands(_ count: Int) async throws {
    let goal = await simulator.counters.commands + count
    try await simulator.wait { $0.counters.commands >= goal }
  }

  /// The tags that a session reports until the end of a round.
  func round() async throws -> [SessionTag] {
    let start = reported.count
    try await next("the end of a round") { if case .sessionRoundEnded = $0 { true } else { nil } }
    return Array(reported[start...])
  }

  /// Scans until the chip has received `commands` commands. Returns the announced tags.
  func announcements(in commands: Int = 60) async throws -> [TagReport] {
    await setScanning(true)
    try await expect(.scanning(true))
    try await self.commands(commands)
    let start = announced.count
    await setScanning(false)
    try await expect(.scanning(false))
    return Array(announced[start...])
  }
}
