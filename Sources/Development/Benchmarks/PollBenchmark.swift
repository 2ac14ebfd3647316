import Glibc
import ReaderSimulator
import TestKit

/// Measures three things. Detection: the time from a tag placed at a random moment to the end of the chip's answer that
/// names it. This is the same for every program, since the use of the answer is not included. Waiting: field and
/// processor time without a tag. Removal: how soon it is noticed.
struct PollBenchmark {
  /// How often a tag of each kind is placed for Tagroute. The other programs get a quarter of that.
  let placements: Int
  /// Of the simulated reader.
  let timing: TimingModel
  /// How many readers are used at once.
  private let lanes = 3
  /// How long the reader stays empty while field and processor time are measured.
  private let idle = Duration.seconds(30)
  private let programs: [Program] = [
    .tagroute, .tagrouteAtInitialRate, .nfcpy, .nfcpyWithoutPauses, .nfcpyAtFullSpeed, .repeated("nfc-poll"),
    .repeated("nfc-list"),
  ]

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build()
    for program in programs {
      do {
        results += try await detections(of: program)
        results += try await idling(program)
      } catch let error as RigError {
        print("\(program.name): \(error)")
      }
    }
    results += try await inLanes { try await removals(of: $0, seed: $1) }
    try await CostBenchmark(seconds: 60, timing: "real").run(&results)
  }

  // MARK: Detection

  private func detections(of program: Program) async throws -> [Results.Series] {
    let placements = program == .tagroute ? placements : max(placements / 4, 1)
    return try await inLanes { try await detect($0, program, placements, seed: $1) }
  }

  /// The series of each kind of tag. Several kinds are measured at once, each with its own seed.
  private func inLanes(
    _ measure: @escaping @Sendable (BenchmarkTag, UInt64) async throws -> [Results.Series]
  ) async throws -> [Results.Series] {
    let kinds = BenchmarkTag.all.filter(\.isPolledFor)
    let lanes = min(lanes, kinds.count)
    return try await withThrowingTaskGroup(of: [(Int, [Results.Series])].self) { group in
      for lane in 0..<lanes {
        group.addTask {
          var all: [(Int, [Results.Series])] = []
          for index in stride(from: lane, to: kinds.count, by: lanes) {
            all.append((index, try await measure(kinds[index], UInt64(index))))
          }
          return all
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }.sorted { $0.0 < $1.0 }.flatMap(\.1)
    }
  }

  private func detect(_ kind: BenchmarkTag, _ program: Program, _ placements: Int, seed: UInt64) async throws
    -> [Results.Series]
  {
    var generator = SeededGenerator(seed: seed)
    let clock = MachineClock()
    let reader = try await SimulatedReader.start(timing: timing, clock: clock)
    let contender = try await program.contender(on: reader)
    try await contender.start()
    var latencies: [Duration] = []
    let message = try BenchmarkTag.message(size: kind.sizes[0])
    for _ in 0..<placements {
      // The previous removal is noticed within half a second. After that, every moment of the cycle is equally likely.
      try await Task.sleep(for: .milliseconds(500 + Int.random(in: 0..<program.longestCycle, using: &generator)))
      let placed = clock.now
      let tag = await reader.place(try kind.make(message))
      if let found = try await reader.detection(since: placed, by: clock) { latencies.append(found - placed) }
      await reader.remove(tag)
    }
    await contender.stop()
    await reader.stop()
    let labels: KeyValuePairs = ["Tag": kind.name, "Program": program.name]
    return [
      .init("placed to detected", latencies, labels),
      .init("not found", Double(placements - latencies.count), "", labels),
    ]
  }

  // MARK: Removal

  /// Removes tags at a random moment of their presence checks, and measures when the reader process reports it.
  private func removals(of kind: BenchmarkTag, seed: UInt64) async throws -> [Results.Series] {
    var generator = SeededGenerator(seed: seed)
    let clock = MachineClock()
    let reader = try await SimulatedReader.start(timing: timing, clock: clock)
    let contender = try await TagrouteContender(reader)
    try await contender.start()
    var latencies: [Duration] = []
    let message = try BenchmarkTag.message(size: kind.sizes[0])
    for _ in 0..<max(placements / 4, 1) {
      let tag = await reader.place(try kind.make(message))
      _ = try await contender.outcome()
      // The range is longer than a whole round of presence checks and of polls for further tags.
      try await Task.sleep(for: .milliseconds(300 + Int.random(in: 0..<1000, using: &generator)))
      let taken = clock.now
      await reader.remove(tag)
      try await contender.removal()
      latencies.append(clock.now - taken)
    }
    await contender.stop()
    await reader.stop()
    return [.init("removed to known by the daemon", latencies, ["Tag": kind.name])]
  }

  // MARK: Waiting

  private func idling(_ program: Program) async throws -> [Results.Series] {
    let reader = try await SimulatedReader.start(timing: timing)
    let contender = try await program.contender(on: reader)
    try await contender.start()
    try await Task.sleep(for: .seconds(2))
    await reader.resetCounters()
    let (before, start) = (try await contender.processorTime(), ContinuousClock.now)
    try await Task.sleep(for: idle)
    let (after, elapsed) = (try await contender.processorTime(), ContinuousClock.now - start)
    let counters = await reader.counters
    await contender.stop()
    await reader.stop()
    let labels: KeyValuePairs = ["Program, without a tag": program.name]
    return [
      .init("field on", counters.fieldOnTime / elapsed * 100, "%", labels),
      .init("chip commands a second", Double(counters.commands) / (elapsed / .seconds(1)), "", labels),
      .init("processor time", (after - before) / elapsed * 100, "% of a core", labels),
    ]
  }
}

extension Program {
  /// The longest time, in milliseconds, until the program is back at the same point of its cycle without a tag.
  fileprivate var longestCycle: Int {
    switch self {
    case .tagroute, .tagrouteAtInitialRate, .nfcpyWithoutPauses: 400
    case .nfcpy, .nfcpyAtFullSpeed: 600
    case .repeated: 2000
    }
  }
}
