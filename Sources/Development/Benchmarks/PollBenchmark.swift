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

  func run() async throws {
    try await BenchmarkPrograms.build()
    var detection = Table(columns: ["Tag", "Program", "Median, ms", "90 %", "99 %", "Worst", "Placed", "Not found"])
    var waiting = Table(columns: ["Program", "Field on", "Chip commands a second", "Processor time, % of a core"])
    for program in programs {
      do {
        for row in try await detections(of: program) { detection.add(row) }
        waiting.add(try await idling(program))
      } catch let error as RigError {
        print("\(program.name): \(error)")
      }
    }
    print("From placed to detected:\n\n\(detection.markdown)\n\nWhile nothing lies there:\n\n\(waiting.markdown)\n")
    var removal = Table(columns: ["Tag", "Median, ms", "90 %", "99 %", "Worst", "Taken away"])
    for row in try await inLanes({ try await removals(of: $0, seed: $1) }) { removal.add(row) }
    print("From taken away to the daemon's being told:\n\n\(removal.markdown)\n")
    try await CostBenchmark(seconds: 60, timing: "real").run()
  }

  // MARK: Detection

  private func detections(of program: Program) async throws -> [[String]] {
    let placements = program == .tagroute ? placements : max(placements / 4, 1)
    return try await inLanes { try await detect($0, program, placements, seed: $1) }
  }

  /// A row for each kind of tag. Several rows are measured at once, each with its own seed.
  private func inLanes(_ row: @escaping @Sendable (BenchmarkTag, UInt64) async throws -> [String]) async throws
    -> [[String]]
  {
    let kinds = BenchmarkTag.all.filter(\.isPolledFor)
    let lanes = min(lanes, kinds.count)
    return try await withThrowingTaskGroup(of: [(Int, [String])].self) { group in
      for lane in 0..<lanes {
        group.addTask {
          var rows: [(Int, [String])] = []
          for index in stride(from: lane, to: kinds.count, by: lanes) {
            rows.append((index, try await row(kinds[index], UInt64(index))))
          }
          return rows
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  private func detect(_ kind: BenchmarkTag, _ program: Program, _ placements: Int, seed: UInt64) async throws
    -> [String]
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
    return [kind.name, program.name] + columns(latencies) + ["\(placements)", "\(placements - latencies.count)"]
  }

  private func columns(_ latencies: [Duration]) -> [String] {
    guard !latencies.isEmpty else { return ["", "", "", ""] }
    let distribution = Distribution(latencies)
    return [50, 90, 99, 100].map { Distribution.milliseconds(distribution.percentile($0)) }
  }

  // MARK: Removal

  /// Removes tags at a random moment of their presence checks, and measures when the reader process reports it.
  private func removals(of kind: BenchmarkTag, seed: UInt64) async throws -> [String] {
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
    return [kind.name] + columns(latencies) + ["\(latencies.count)"]
  }

  // MARK: Waiting

  private func idling(_ program: Program) async throws -> [String] {
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
    return [
      program.name, "\(Distribution.tenths(counters.fieldOnTime / elapsed * 100)) %",
      Distribution.tenths(Double(counters.commands) / (elapsed / .seconds(1))),
      Distribution.tenths((after - before) / elapsed * 100),
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
