import EventLoop
import Glibc
import Journal
import Names
import TestRig
import Testing

@testable import ReaderLink
@testable import ReaderSimulator

/// Runs the real `tagroute-reader-pcsc` on a virtual reader of the real pcscd, and reads its events.
///
/// A wait that takes too long fails with the exchanges of the reader and the log of pcscd.
final class CardReaderRig {
  let readers: SimulatedCardReaders
  let pcscd: PrivatePCSCD
  let process: ReaderProcess
  let reader: AttachedCardReader
  /// The slot that the process uses.
  let slot: CardSlotID
  /// The name by which pcscd lists the slot, with its numbers.
  let name: String
  /// Holds sockets, configuration and log of pcscd.
  let directory: TemporaryDirectory
  let timers = EventLoop(label: "rig")
  private var events: AsyncStream<ReaderProcessEvent>.Iterator
  /// All events that were read so far.
  private(set) var seen: [ReaderProcessEvent] = []

  // The goal of the reader, which the daemon would set.
  private(set) var epoch: UInt64 = 0
  private var goal = ReaderGoal.off
  private var isToScan = false
  private var session: ReaderSessionOptions?
  private var isLent = false
  private var polling: ReaderPolling

  /// Starts pcscd with a reader of `model`, and with `others`, and the process for one slot of the first reader. With a
  /// `testbed`, the readers are USB devices that are not plugged in yet. `device` is the name that the process gets; nil
  /// for `name`.
  init(
    _ model: CardReaderModel = .acr1252U, slot index: Int = 0, others: [CardReaderModel] = [],
    testbed: DeviceTestbed? = nil, technologies: [TagType] = TagType.readable, feedback: Bool = false,
    device: String? = nil, starter: String = #function
  ) async throws {
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    atEndOfTest {
      await readers.stop()
      withExtendedLifetime(directory) {}
    }
    let reader = await readers.addReader(model)
    for other in others { await readers.addReader(other) }
    let pcscd: PrivatePCSCD
    if let testbed {
      var options = PrivatePCSCD.Options()
      options.environment = testbed.environment
      pcscd = try await readers.startHotplugPCSCD(in: directory.path, options: options)
    } else {
      pcscd = try await readers.startPCSCD(in: directory.path)
    }
    atEndOfTest {
      await pcscd.kill()
      keepLog(pcscd.log(), of: "pcscd", starter: starter)
    }
    let slot = reader.slots[index]
    let name = await readers.name(of: slot)
    let configuration = ReaderProcess.Configuration(
      program: try BuiltProducts.program(Names.Files.pcscReaderProgram),
      device: Names.PCSC.devicePrefix + (device ?? name),
      environment: ["\(Names.PCSC.socketVariable)=\(pcscd.socket)"])
    let process = ReaderProcess(configuration, on: EventLoop(label: "daemon"))
    atEndOfTest { await process.stop() }
    (self.directory, self.readers, self.pcscd, self.process) = (directory, readers, pcscd, process)
    (self.reader, self.slot, self.name) = (reader, slot, name)
    polling = ReaderPolling(technologies: technologies, feedback: feedback)
    events = process.events.makeAsyncIterator()
    await process.start()
  }

  /// A rig with a scanning process.
  static func scanning(
    _ model: CardReaderModel = .acr1252U, starter: String = #function
  ) async throws -> CardReaderRig {
    let rig = try await CardReaderRig(model, starter: starter)
    try await rig.scan(true)
    return rig
  }

  /// A rig with a ready reader whose process sleeps.
  static func asleep(_ model: CardReaderModel = .acr1252U, starter: String = #function) async throws -> CardReaderRig {
    let rig = try await CardReaderRig(model, starter: starter)
    try await rig.isReady()
    try await rig.isAsleep()
    return rig
  }

  // MARK: Goals

  /// Starts or stops scanning, and waits until that is in force.
  func scan(_ isOn: Bool) async throws {
    await setScanning(isOn)
    try await expect(.scanning(isOn))
  }

  func setScanning(_ isOn: Bool) async {
    isToScan = isOn
    await pursue()
  }

  func configure(_ change: (inout ReaderPolling) -> Void) async {
    change(&polling)
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

  private func pursue() async {
    let new = isLent ? .lent : session.map { .session($0) } ?? (isToScan ? ReaderGoal.scan(polling) : .off)
    guard new != goal else { return }
    (epoch, goal) = (epoch + 1, new)
    await process.pursue(epoch, goal)
  }

  // MARK: Events

  /// Reads events until `pick` returns a result.
  @discardableResult func next<T>(_ what: String, _ pick: (ReaderProcessEvent) -> T?) async throws -> T {
    let start = seen.count
    let watchdog = timers.schedule(after: ChildProcess.timeout) { [process] in Task { await process.stop() } }
    defer { watchdog.cancel() }
    while let event = await events.next(isolation: #isolation) {
      seen.append(event)
      if event.isLoss, let session { await endSession(session.number) }
      if let result = pick(event) { return result }
      // After an unexpected crash, the event might never come.
      if event.isCrash { break }
    }
    throw await failure("expected \(what), got \(seen[start...])")
  }

  func failure(_ what: String) async -> RigError {
    let exchanges = await readers.exchanges(in: slot).suffix(60).map(\.description).joined(separator: "\n")
    return RigError("\(what)\nexchanges:\n\(exchanges)\npcscd:\n\(pcscd.log().suffix(6000))")
  }

  /// An event that a test waits for.
  enum Word {
    case scanning(Bool)
    case lent(Bool)
    case sessionBegan(UInt64)
    case sessionEnded(UInt64)
    case removed(placement: UInt64)
    case failed
    case crashed
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
        case (.lent(false), .phase(let phase, _)): phase != .released
        case (.sessionEnded, .phase(_, epoch)): true
        case (.failed, .phase(.failed, _)), (.crashed, .crashed): true
        default: false
        }
      return isMet ? true : nil
    }
  }

  /// The reason why the reader cannot be used.
  func failed() async throws -> String {
    try await next("a failed reader") { if case .phase(.failed(let reason), _) = $0 { reason } else { nil } }
  }

  func isReady() async throws {
    try await next("a ready reader") { if case .phase(.ready, _) = $0 { true } else { nil } }
  }

  func tag() async throws -> TagReport {
    try await next("a tag") { if case .tag(let report, _) = $0 { report } else { nil } }
  }

  func message() async throws -> (message: [UInt8], placement: Placement) {
    let report = try await tag()
    guard case .message(let bytes) = report.content else {
      throw await failure("expected a message, got \(report)")
    }
    return (bytes, report.placement)
  }

  /// Returns the number of the next placement that ends. No tag may be announced before that.
  func removal(sourceLocation: SourceLocation = #_sourceLocation) async throws -> UInt64 {
    try await next("a removal") { event in
      if case .tag(let report, _) = event {
        Issue.record("a tag was announced: \(report)", sourceLocation: sourceLocation)
      }
      return if case .removed(let number) = event { number } else { nil }
    }
  }

  /// The tags that were announced so far.
  var announced: [TagReport] { seen.compactMap { if case .tag(let report, _) = $0 { report } else { nil } } }

  /// The placements of the tags that lie on the reader and were announced or are known.
  var resting: [UInt64] {
    seen.reversed().lazy.compactMap { if case .known(let known) = $0 { known.tags.map(\.number) } else { nil } }.first
      ?? []
  }

  /// The reasons for waiting that were reported so far.
  var waits: [String] { seen.compactMap { if case .waiting(let reason) = $0 { reason } else { nil } } }

  /// The lines of the log so far.
  var logged: [String] { seen.compactMap { if case .log(_, let line) = $0 { line } else { nil } } }
}

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
