import Daemon
import EventLoop
import Glibc
import NDEF
import ReaderProtocol
import ReaderSimulator
import TestKit

/// A program that polls for tags on a simulated reader.
protocol Contender: AnyObject {
  /// Starts polling, and continues until `stop`.
  func start() async throws
  /// User and system time of its processes since its start.
  func processorTime() async throws -> Duration
  func stop() async
}

/// A contender that reports the contents of a tag.
protocol ReadingContender: Contender {
  /// Waits for its report about a tag that was placed after the previous report.
  func outcome() async throws -> ReadOutcome
  /// Waits until it has noticed the removal of the tag.
  func removal() async throws
}

/// The result of a program for one tag.
enum ReadOutcome: Sendable, Equatable {
  case message([UInt8])
  /// The program has written the message that it was given.
  case written
  case failure(String)
}

enum Program: Sendable, Hashable {
  /// `tagroute-reader`, as `tagrouted` runs it.
  case tagroute
  /// The same, at the 115,200 baud that its device's name demands.
  case tagrouteAtInitialRate
  /// nfcpy without changes, at 115,200 baud.
  case nfcpy
  /// nfcpy without its pause of half a second.
  case nfcpyWithoutPauses
  /// nfcpy without changes, at the 921,600 baud to which it switches.
  case nfcpyAtFullSpeed
  /// A program of libnfc, run repeatedly.
  case repeated(String)

  var name: String {
    switch self {
    case .tagroute: "Tagroute"
    case .tagrouteAtInitialRate: "Tagroute, 115,200 baud"
    case .nfcpy: "nfcpy"
    case .nfcpyWithoutPauses: "nfcpy, interval 0"
    case .nfcpyAtFullSpeed: "nfcpy, 921,600 baud"
    case .repeated(let program): "\(program) in a loop"
    }
  }

  func contender(on reader: SimulatedReader) async throws -> any Contender {
    switch self {
    case .tagroute: try await TagrouteContender(reader)
    case .tagrouteAtInitialRate: try await TagrouteContender(reader, rate: ":115200")
    case .nfcpy: try await NfcpyContender(reader, [])
    case .nfcpyWithoutPauses: try await NfcpyContender(reader, ["--interval", "0"])
    case .nfcpyAtFullSpeed: try await NfcpyContender(reader, ["--full-speed"])
    case .repeated(let program):
      try await RepeatedContender(
        reader, BuiltProducts.systemProgram(program, package: "libnfc-bin or libnfc-examples"), [])
    }
  }
}

/// The real reader process, with the events that it sends to the daemon.
final class TagrouteContender: ReadingContender {
  private let process: ReaderProcess
  private var events: AsyncStream<ReaderProcessEvent>.Iterator

  /// `rate` is what follows the path in the name of the device.
  init(_ reader: SimulatedReader, rate: String = "") async throws {
    process = ReaderProcess(
      ReaderProcess.Configuration(
        program: try BuiltProducts.program("tagroute-reader"), device: await reader.connectionString + rate),
      on: EventLoop(label: "daemon"))
    events = process.events.makeAsyncIterator()
  }

  func start() async throws {
    await process.start()
    await process.pursue(1, .scan(ReaderPolling()))
  }

  func outcome() async throws -> ReadOutcome {
    while let event = await events.next(isolation: #isolation) {
      switch event {
      case .tag(let report, _):
        switch report.content {
        case .message(let bytes): return .message(bytes)
        case .problem(let reason), .damaged(let reason, _): return .failure(reason)
        case .bare: return .failure("the tag has no NDEF")
        }
      case .crashed(let crash): throw RigError("tagroute-reader: \(crash.reason)")
      default: break
      }
    }
    throw RigError("tagroute-reader says no more")
  }

  func removal() async throws {
    while let event = await events.next(isolation: #isolation) {
      switch event {
      case .removed: return
      case .crashed(let crash): throw RigError("tagroute-reader: \(crash.reason)")
      default: break
      }
    }
    throw RigError("tagroute-reader says no more")
  }

  func processorTime() async throws -> Duration {
    guard let identifier = await process.processID else { throw RigError("tagroute-reader does not run") }
    return try ProcessorTime.of(identifier)
  }

  func stop() async { await process.stop() }
}

/// nfcpy in a small program, `nfcpy-reader.py`.
final class NfcpyContender: ReadingContender {
  private let python: String
  private let arguments: [String]
  private var process: ChildProcess?
  private var seen = 0

  init(_ reader: SimulatedReader, _ options: [String]) async throws {
    python = try Nfcpy.python()
    arguments = [Nfcpy.script, await reader.path] + options
  }

  func start() async throws {
    // nfcpy gives the chip 100 ms and then gives up for good. That is too short on a busy machine.
    for attempt in 1...3 {
      let process = try ChildProcess(python, arguments)
      do {
        try await process.line(containing: "ready")
        self.process = process
        seen = await process.log().count
        return
      } catch {
        if attempt == 3 { throw error }
      }
    }
  }

  func outcome() async throws -> ReadOutcome {
    guard let process else { throw RigError("nfcpy does not run") }
    let line: String
    do {
      line = try await process.line(after: seen) { Nfcpy.outcome($0) != nil }
    } catch let error as RigError {
      return .failure("\(error)")
    }
    seen = await process.log().count
    return Nfcpy.outcome(line) ?? .failure(line)
  }

  func removal() async throws {
    guard let process else { throw RigError("nfcpy does not run") }
    _ = try await process.line(after: seen) { $0 == "gone" }
    seen = await process.log().count
  }

  func processorTime() throws -> Duration {
    guard let process else { throw RigError("nfcpy does not run") }
    return try ProcessorTime.of(process.identifier)
  }

  func stop() async {
    process?.signal(SIGKILL)
    _ = try? await process?.exit()
    process = nil
  }
}

/// A program that polls, reports its findings and exits. It is started again immediately.
actor RepeatedContender: Contender {
  private let program: String
  private let arguments: [String]
  private let environment: [String: String]
  private var loop: Task<Void, any Error>?
  private var current: ChildProcess?
  private var spentBefore = Duration.zero

  init(_ reader: SimulatedReader, _ program: String, _ arguments: [String]) async throws {
    self.program = program
    self.arguments = arguments
    environment = ProcessEnvironment.current.merging([
      "LIBNFC_AUTO_SCAN": "false", "LIBNFC_DEVICE": await reader.connectionString,
    ]) { _, ours in ours }
  }

  func start() async throws {
    spentBefore = ProcessorTime.ofEndedChildren()
    loop = Task { while !Task.isCancelled { try await once() } }
  }

  private func once() async throws {
    let process = try ChildProcess(program, arguments, environment: environment)
    current = process
    try await process.exit(within: .seconds(60))
  }

  func processorTime() throws -> Duration {
    let running = current.flatMap { try? ProcessorTime.of($0.identifier) } ?? .zero
    return ProcessorTime.ofEndedChildren() - spentBefore + running
  }

  func stop() async {
    loop?.cancel()
    current?.signal(SIGKILL)
    _ = try? await loop?.value
    current = nil
  }
}

extension SimulatedReader {
  /// A tag that is not found within this time is reported as not found.
  private static let timeout = Duration.seconds(4)

  /// Waits for the answer that names a tag. Returns when, on the reader's clock, that answer was complete; nil if there
  /// was none in time.
  nonisolated func detection(since placed: Duration, by clock: MachineClock) async throws -> Duration? {
    while clock.now - placed < Self.timeout {
      for record in await commands.reversed() {
        guard let end = record.end, end >= placed else { break }
        if record.foundTargets ?? 0 > 0 { return end }
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    return nil
  }
}
