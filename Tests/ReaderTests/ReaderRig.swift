import EventLoop
import NDEF
import ReaderSimulator
import Rig
import Testing

@testable import ReaderLink

/// The real reader process on a simulated reader, and what it says.
final class ReaderRig {
  let simulator: SimulatedReader
  let process: ReaderProcess
  private let directory: TemporaryDirectory
  private var events: AsyncStream<ReaderProcessEvent>.Iterator
  /// All that has been read of the events so far, for a test's message.
  private(set) var seen: [ReaderProcessEvent] = []

  init(
    isPluggedIn: Bool = true, pollInterval: Duration = .milliseconds(20), fault: Fault? = nil,
    technologies: [String]? = nil, timing: TimingModel = .immediate, isFollowed: Bool = false,
    environment: [String] = [], wakesTypeB: Bool = true, loop: EventLoop = EventLoop(label: "daemon")
  ) async throws {
    directory = try TemporaryDirectory()
    simulator = try await SimulatedReader.start(timing: timing, link: directory.file("reader"), wakesTypeB: wakesTypeB)
    if !isPluggedIn { await simulator.unplug() }
    if let fault { await simulator.add(fault) }
    let configuration = ReaderProcess.Configuration(
      program: try BuiltProducts.program("tagroute-reader"), device: await simulator.connectionString,
      pollInterval: pollInterval, technologies: technologies, isFollowed: isFollowed, environment: environment)
    process = ReaderProcess(configuration, on: loop)
    events = process.events.makeAsyncIterator()
    await process.start()
  }

  /// A rig whose reader is looking for tags.
  static func scanning(loop: EventLoop = EventLoop(label: "daemon")) async throws -> ReaderRig {
    let rig = try await ReaderRig(loop: loop)
    await rig.process.setScanning(true)
    try await rig.expect(.scanning(true))
    return rig
  }

  func stop() async {
    await process.stop()
    await simulator.stop()
  }

  /// The first of the events to come that `pick` takes.
  @discardableResult func next<T>(_ what: String, _ pick: (ReaderProcessEvent) -> T?) async throws -> T {
    let start = seen.count
    while let event = await events.next(isolation: #isolation) {
      seen.append(event)
      if let result = pick(event) { return result }
      // After a crash, or the end of a session, that nobody expects, what is waited for may never come.
      if case .crashed = event { break }
      if case .sessionLost = event { break }
    }
    throw RigError("\(what) never came, but \(seen[start...])")
  }

  func expect(_ event: ReaderProcessEvent) async throws {
    try await next("\(event)") { $0 == event ? true : nil }
  }

  func tag() async throws -> TagReport {
    try await next("a tag") { if case .tag(let report) = $0 { report } else { nil } }
  }

  func message() async throws -> (message: [UInt8], placement: Placement) {
    let report = try await tag()
    guard case .message(let bytes) = report.content else { throw RigError("no message, but \(report)") }
    return (bytes, report.placement)
  }

  func crash() async throws -> ReaderCrash {
    try await next("a crash") { if case .crashed(let crash) = $0 { crash } else { nil } }
  }

  func isReady() async throws {
    try await next("a reader that is ready") { if case .state(.ready) = $0 { true } else { nil } }
  }

  /// The number of the next placement that ends, nothing having been announced before.
  func removal() async throws -> UInt64 {
    try await next("a removal") { event in
      if case .tag(let report) = event { Issue.record("announced: \(report)") }
      return if case .removed(let number) = event { number } else { nil }
    }
  }

  /// What lies there is nobody's, for as long as it does; what comes in its place is announced.
  func announcesOnlyWhatComesNow() async throws {
    try await commands(20)
    await simulator.removeAll()
    try await commands(20)
    let after = try uri("https://example.com/after")
    await simulator.place(try .type2(.ntag213, message: after))
    #expect(try await message().message == after)
  }

  /// Waits until the process sleeps until it is told something.
  func isAsleep() async throws {
    await process.wait { $0.isAsleep }
  }

  /// Waits until the chip has been told so many further commands: so long has the process gone on with its work.
  func commands(_ count: Int) async throws {
    let goal = await simulator.counters.commands + count
    await simulator.wait { $0.counters.commands >= goal }
  }
}

/// The encoding of a message that holds one URI.
func uri(_ text: String) throws -> [UInt8] { try NDEFMessage.uri(text).encoded() }

extension TagReport {
  /// Why the tag could not be read; nil where it was.
  var problem: String? { if case .problem(let reason) = content { reason } else { nil } }
}
