import EventLoop
import NDEF
import Names
import ReaderSimulator
import TestRig
import Testing
@testable import LibNFCReaderTests

@testable import ReaderLink

/// Runs the real reader process on a simulated reader and reads its events.
final class ReaderRig {
  let simulator: SimulatedReader
  let process: ReaderProcess
  private let directory: TemporaryDirectory
  private var events: AsyncStream<ReaderProcessEvent>.Iterator
  /// All events that were read so far, for failure messages.
  private(set) var seen: [ReaderProcessEvent] = []

  // The goal of the reader, which the daemon would set.
  private(set) var epoch: UInt64 = 0
  private var goal = ReaderGoal.off
  private var isToScan = false
  private var session: ReaderSessionOptions?
  private var isLent = false
  private var polling: ReaderPolling

  init(
    isPluggedIn: Bool = true, pollInterval: Duration = .milliseconds(20), fault: Fault? = nil,
    technologies: [TagType] = TagType.readable, timing: TimingModel = .immediate, isFollowed: Bool = false,
    environment: [String] = [], wakesTypeB: Bool = true, loop: EventLoop = EventLoop(label: "daemon")
  ) async throws {
    directory = try TemporaryDirectory()
    simulator = try await SimulatedReader.start(timing: timing, link: directory.file("reader"), wakesTypeB: wakesTypeB)
    if !isPluggedIn { await simulator.unplug() }
    if let fault { await simulator.add(fault) }
    polling = ReaderPolling(interval: pollInterval, technologies: technologies)
    let configuration = ReaderProcess.Configuration(
      program: try BuiltProducts.program("tagroute-reader"), device: await simulator.connectionString,
      isFollowed: isFollowed, environment: environment)
    process = ReaderProcess(configuration, on: loop)
    events = process.events.makeAsyncIterator()
    atEndOfTest { [process, simulator] in
      await process.stop()
      await simulator.stop()
    }
    await process.start()
  }

  /// A rig with a scanning reader.
  static func scanning(loop: EventLoop = EventLoop(label: "daemon")) async throws -> ReaderRig {
    let rig = try await ReaderRig(loop: loop)
    try await rig.scan(true)
    return rig
  }

  /// A rig with a ready reader whose process sleeps.
  static func asleep(isFollowed: Bool = false) async throws -> ReaderRig {
    let rig = try await ReaderRig(isFollowed: isFollowed)
    try await rig.isReady()
    try await rig.isAsleep()
    return rig
  }

  /// Starts or stops scanning, and waits until that is in force.
  func scan(_ isOn: Bool) async throws {
    await setScanning(isOn)
    try await expect(.scanning(isOn))
  }

  func setScanning(_ isOn: Bool) async {
    isToScan = isOn
    await pursue()
  }

  func beginSession(_ options: ReaderSessionOptions) async {
    session = options
    await pursue()
  }

  func endSession(_ number: UInt64) async {
    if session?.number == number { session = nil }
    await pursue()
  }

  func lend(_ isOn: Bool) async {
    isLent = isOn
    // A loan ends the reader session.
    if isOn { session = nil }
    await pursue()
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

  func configure(_ polling: ReaderPolling) async {
    self.polling = polling
    await pursue()
  }

  private func pursue() async {
    let new = isLent ? .lent : session.map { .session($0) } ?? (isToScan ? ReaderGoal.scan(polling) : .off)
    guard new != goal else { return }
    (epoch, goal) = (epoch + 1, new)
    await process.pursue(epoch, goal)
  }

  func stop() async {
    await process.stop()
    await simulator.stop()
  }

  /// Reads events until `pick` returns a result.
  @discardableResult func next<T>(_ what: String, _ pick: (ReaderProcessEvent) -> T?) async throws -> T {
    let start = seen.count
    while let event = await events.next(isolation: #isolation) {
      seen.append(event)
      let isUnexpected = event.isCrash || session != nil && event.isLoss
      if event.isLoss, let session { await endSession(session.number) }
      if let result = pick(event) { return result }
      // After an unexpected crash or an unexpected loss of the session, the event might never come.
      if isUnexpected { break }
    }
    throw RigError("expected \(what), got \(seen[start...])")
  }

  /// An event that a test waits for.
  enum Word {
    case scanning(Bool)
    case lent(Bool)
    case sessionBegan(UInt64)
    case sessionEnded(UInt64)
    case removed(placement: UInt64)
  }

  func expect(_ word: Word) async throws {
    try await next("\(word)") { event -> Bool? in
      let isMet =
        switch (word, event) {
        case (.removed(let expected), .removed(let placement)): expected == placement
        case (.scanning(true), .phase(.scanning, epoch)), (.lent(true), .phase(.released, epoch)): true
        case (.sessionBegan(let expected), .phase(.inSession(let number), epoch)): expected == number
        case (.scanning(false), .phase(.absent, _)): true
        case (.scanning(false), .phase(let phase, epoch)): phase != .scanning
        case (.sessionEnded, .phase(_, epoch)): true
        default: false
        }
      return isMet ? true : nil
    }
  }

  func tag() async throws -> TagReport {
    try await next("a tag") { if case .tag(let report, _) = $0 { report } else { nil } }
  }

  func message() async throws -> (message: [UInt8], placement: Placement) {
    let report = try await tag()
    guard case .message(let bytes) = report.content else { throw RigError("expected a message, got \(report)") }
    return (bytes, report.placement)
  }

  func crash() async throws -> ReaderCrash {
    try await next("a crash") { if case .crashed(let crash) = $0 { crash } else { nil } }
  }

  func isReady() async throws {
    try await next("a ready reader") { if case .phase(.ready, _) = $0 { true } else { nil } }
  }

  /// Returns the number of the next placement that ends. No tag may be announced before that.
  func removal() async throws -> UInt64 {
    try await next("a removal") { event in
      if case .tag(let report, _) = event { Issue.record("a tag was announced: \(report)") }
      return if case .removed(let number) = event { number } else { nil }
    }
  }

  /// Places a tag with a link. The next tag that is announced has to have this link.
  @discardableResult func announces(
    _ link: String, isType4: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> (id: TagID, placement: Placement) {
    let bytes = try uri(link)
    let id = await simulator.place(try isType4 ? .type4(message: bytes) : .type2(.ntag213, message: bytes))
    let (message, placement) = try await message()
    #expect(message == bytes, sourceLocation: sourceLocation)
    return (id, placement)
  }

  /// Takes a tag away. The next placement that ends has to be this one, and no tag may be announced before that.
  func takeAway(
    _ id: TagID, _ placement: Placement, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    await simulator.remove(id)
    #expect(try await removal() == placement.number, sourceLocation: sourceLocation)
  }

  /// Expects that the resting tag is never announced and that the next tag is.
  func announcesOnlyWhatComesNow() async throws {
    try await commands(20)
    await simulator.removeAll()
    try await commands(20)
    try await announces("https://example.com/after")
  }

  /// Waits until the process sleeps and waits for a command.
  func isAsleep() async throws { await process.wait { $0.isAsleep } }

  /// Waits until the chip has received `count` more commands, to let the process do that much work.
  func commands(_ count: Int) async throws {
    let goal = await simulator.counters.commands + count
    await simulator.wait { $0.counters.commands >= goal }
  }
}

/// An encoded message with one URI.
func uri(_ text: String) throws -> [UInt8] { try NDEFMessage.uri(text).encoded() }

extension TagReport {
  /// Why there is no message; nil if there is one.
  var problem: String? {
    switch content {
    case .message: nil
    case .bare(let reason), .problem(let reason): reason
    }
  }

  /// Whether the tag is known to have no message.
  var isBare: Bool { if case .bare = content { true } else { false } }
}

extension ReaderProcessEvent {
  var isCrash: Bool { if case .crashed = self { true } else { false } }

  /// Whether the device is lost. Every reader session then ends.
  var isLoss: Bool {
    switch self {
    case .phase(.failed, _), .phase(.absent, _): true
    default: false
    }
  }
}
