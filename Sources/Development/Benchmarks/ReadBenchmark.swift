import Glibc
import ReaderSimulator
import TestKit

/// The cost of reading a tag, from the answer that names it to the message, by type, size and program.
struct ReadBenchmark {
  /// Of the simulated reader.
  let timing: TimingModel
  /// The programs that report the message that they have read.
  private let programs: [Program] = [.tagroute, .tagrouteAtInitialRate, .nfcpy]

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build()
    for program in programs {
      do { try await measure(program, &results) } catch let error as RigError { print("\(program.name): \(error)") }
    }
    for kind in BenchmarkTag.all {
      do { try await measureTool(kind, &results) } catch let error as RigError { print("\(kind.name): \(error)") }
    }
  }

  /// Measures one process, which reads all tags one after the other.
  private func measure(_ program: Program, _ results: inout Results) async throws {
    let clock = MachineClock()
    let reader = try await SimulatedReader.start(timing: timing, clock: clock)
    guard let contender = try await program.contender(on: reader) as? any ReadingContender else { return }
    try await contender.start()
    for kind in BenchmarkTag.all where program != .nfcpy || kind.isKnownToNfcpy {
      for size in kind.sizes {
        let message = try BenchmarkTag.message(size: size)
        await reader.resetCounters()
        let placed = clock.now
        let tag = await reader.place(try kind.make(message))
        let isFound = try await reader.detection(since: placed, by: clock) != nil
        let outcome = isFound ? try await contender.outcome() : .failure("not found")
        let cost = await Cost(of: reader.commands)
        let isRight = outcome == .message(message)
        results += series(kind, size, program.name, isRight ? cost : nil, "\(outcome)")
        await reader.remove(tag)
        if isFound { try await contender.removal() }
      }
    }
    await contender.stop()
    await reader.stop()
  }

  /// Measures Debian's tool for the kind, once for each size. The tag is in place from the beginning.
  private func measureTool(_ kind: BenchmarkTag, _ results: inout Results) async throws {
    guard let tool = kind.tool else { return }
    let program = try BuiltProducts.systemProgram(tool.program, package: tool.package)
    for size in kind.sizes {
      let reader = try await SimulatedReader.start(timing: timing)
      await reader.place(try kind.make(try BenchmarkTag.message(size: size)))
      let result = try await ChildProcess.run(
        program, tool.arguments,
        environment: [
          "LIBNFC_AUTO_SCAN": "false", "LIBNFC_DEVICE": await reader.connectionString, "PATH": "/usr/bin:/bin",
        ])
      let cost = result.status == .exited(0) ? await Cost(of: reader.commands) : nil
      results += series(kind, size, tool.program, cost, "\(result.status)")
      await reader.stop()
    }
  }

  private func series(
    _ kind: BenchmarkTag, _ size: Int, _ program: String, _ cost: Cost?, _ outcome: String
  ) -> [Results.Series] {
    guard let cost else {
      print("\(kind.name), \(size) bytes: \(program) has not read it: \(outcome.prefix(60))")
      return []
    }
    let labels: KeyValuePairs = ["Tag": kind.name, "Bytes of the message": "\(size)", "Program": program]
    return [
      .init("exchanges", Double(cost.exchanges), "", labels), .init("chip commands", Double(cost.commands), "", labels),
      .init("bytes on the line", Double(cost.bytes), "", labels), .init("wire time", [cost.wireTime], labels),
      .init("measured", [cost.measured], labels),
    ]
  }
}

/// The cost between the end of the answer that named a tag and the end of the last answer from the tag.
private struct Cost {
  let exchanges: Int
  let commands: Int
  let bytes: Int
  let wireTime: Duration
  let measured: Duration

  /// ReadRegister and WriteRegister (UM0701-02, sections 7.2.4 and 7.2.5). A host uses them to fetch answers with
  /// frames that the chip's firmware does not know.
  private static let registerCodes: Set<UInt8> = [0x06, 0x08]

  init?(of records: [CommandRecord]) {
    let ended = records.filter { $0.end != nil }
    let exchanging = zip(ended, ended.dropFirst()).enumerated().filter { _, pair in
      pair.1.counters?.exchanges != pair.0.counters?.exchanges
    }
    guard let first = ended.first(where: { $0.foundTargets ?? 0 > 0 }), let begin = first.end,
      let before = first.counters,
      let index = exchanging.last.map({ $0.offset + 1 })
    else { return nil }
    let rest = ended[(index + 1)...].prefix { $0.command.first.map(Self.registerCodes.contains) ?? false }
    guard let last = rest.last ?? ended[index...].first, let end = last.end, let after = last.counters else {
      return nil
    }
    exchanges = after.exchanges - before.exchanges
    commands = after.commands - before.commands
    bytes = after.bytesReceived + after.bytesSent - before.bytesReceived - before.bytesSent
    wireTime = after.wireTime - before.wireTime
    measured = end - begin
  }
}
