import EventLoop
import Glibc
import NDEF
import ReaderLink
import ReaderSimulator
import Rig

/// A program that looks for tags on a simulated reader.
protocol Contender: AnyObject {
  /// Begins to look, and goes on until `stop`.
  func start() async throws
  /// User and system time of its processes since it was started.
  func processorTime() async throws -> Duration
  func stop() async
}

/// One that says what it has read.
protocol ReadingContender: Contender {
  /// Waits until it has said what a tag holds that was put there after the last time.
  func outcome() async throws -> Outcome
  /// Waits until it has noticed that the tag is away.
  func removal() async throws
}

/// What a program makes of a tag.
enum Outcome: Sendable, Equatable {
  case message([UInt8])
  /// It has written what it was to write.
  case written
  case failure(String)
}

/// Which programs there are.
enum Program: Sendable, Hashable {
  /// `tagroute-reader`, as `tagrouted` runs it.
  case tagroute
  /// nfcpy as it comes, at 115,200 baud.
  case nfcpy
  /// nfcpy without the half second that it pauses.
  case nfcpyWithoutPauses
  /// nfcpy as it comes, at the 921,600 baud that it switches to.
  case nfcpyAtFullSpeed
  /// One of libnfc's programs, again and again.
  case repeated(String)

  var name: String {
    switch self {
    case .tagroute: "Tagroute"
    case .nfcpy: "nfcpy"
    case .nfcpyWithoutPauses: "nfcpy, interval 0"
    case .nfcpyAtFullSpeed: "nfcpy, 921,600 baud"
    case .repeated(let program): "\(program) in a loop"
    }
  }

  func contender(on reader: SimulatedReader) async throws -> any Contender {
    switch self {
    case .tagroute: try await TagrouteContender(reader)
    case .nfcpy: try await NfcpyContender(reader, [])
    case .nfcpyWithoutPauses: try await NfcpyContender(reader, ["--interval", "0"])
    case .nfcpyAtFullSpeed: try await NfcpyContender(reader, ["--full-speed"])
    case .repeated(let program):
      try await RepeatedContender(
        reader, BuiltProducts.systemProgram(program, package: "libnfc-bin or libnfc-examples"), [])
    }
  }
}

/// The real reader process and what the daemon hears of it.
final class TagrouteContender: ReadingContender {
  private let process: ReaderProcess
  private var events: AsyncStream<ReaderProcessEvent>.Iterator

  init(_ reader: SimulatedReader) async throws {
    process = ReaderProcess(
      ReaderProcess.Configuration(
        program: try BuiltProducts.program("tagroute-reader"), device: await reader.connectionString),
      on: EventLoop(label: "daemon"))
    events = process.events.makeAsyncIterator()
  }

  func start() async throws {
    await process.start()
    await process.setScanning(true)
  }

  func outcome() async throws -> Outcome {
    while let event = await events.next(isolation: #isolation) {
      switch event {
      case .tag(let report):
        switch report.content {
        case .message(let bytes): return .message(bytes)
        case .problem(let reason): return .failure(reason)
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

/// nfcpy in a small program of its own.
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
    // It gives the chip 100 ms, and then gives up for good: too little on a machine that is busy.
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

  func outcome() async throws -> Outcome {
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

/// A program that looks, says what it has found, and ends: run again as soon as it has.
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
    loop = Task {
      while !Task.isCancelled { try await once() }
    }
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
