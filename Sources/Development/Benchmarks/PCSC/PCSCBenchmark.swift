import Bus
import Glibc
import TestKit

/// The time from a tag that a PC/SC reader reports to the call of Notify, through the real pcscd. Next to it: pyscard's
/// CardMonitor, which reads the same tag in the same pcscd. And the cost of a reader that waits.
///
/// The clock starts when the simulated reader gets the tag. pcscd reports the insertion to its clients about half a
/// millisecond later.
struct PCSCBenchmark {
  let taps: Int
  private let idleSeconds = 10

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build(and: ["tagroute-reader-pcsc", "tagroute-ifd"])
    var options = Installation.Options()
    options.reader = .pcsc
    let installation = try await Installation(options)
    let server = try await installation.startWithMenu()
    results += Results.Series("NTAG215 placed", try await ours(installation, server), ["To": "the call of Notify"])
    results += try await idleCost(installation)

    await installation.daemon?.signal(SIGTERM)
    try await installation.daemon?.exit()
    results += Results.Series(
      "NTAG215 placed", try await pyscard(installation), ["To": "its first 48 bytes in pyscard's CardMonitor"])
    await installation.stop()
  }

  private func ours(_ installation: Installation, _ server: NotificationServerStandIn) async throws -> [Duration] {
    var latencies: [Duration] = []
    for number in 0..<taps {
      try await rest()
      let uri = BenchmarkTag.link(number)
      let placed = SuspendingClock.now
      try await installation.simulate("tap \(uri)")
      let shown = try await server.next()
      latencies.append(SuspendingClock.now - placed)
      guard "\(shown.summary) \(shown.body)".contains(uri.suffix(8)) else {
        throw RigError("tap \(number): the notification is for another tag: \(shown.summary): \(shown.body)")
      }
      try await installation.simulate("remove")
    }
    return latencies
  }

  private func pyscard(_ installation: Installation) async throws -> [Duration] {
    // Debian's own interpreter, because the package is only for that.
    let python = "/usr/bin/python3"
    let script = "Sources/Development/Benchmarks/PCSC/pyscard-monitor.py"
    guard access(script, R_OK) == 0 else { throw RigError("\(script) is not here: start this in the package's folder") }
    let monitor = try await installation.start(python, [script], input: true)
    try await monitor.line(containing: "ready")
    var latencies: [Duration] = []
    for number in 0..<taps {
      try await rest()
      let seen = await monitor.log().count
      let placed = SuspendingClock.now
      try await installation.simulate("tap \(BenchmarkTag.link(number))")
      let line = try await monitor.line(after: seen) { $0.hasPrefix("message") || $0.hasPrefix("error") }
      latencies.append(SuspendingClock.now - placed)
      guard line.hasPrefix("message") else { throw RigError("tap \(number): pyscard: \(line)") }
      try await installation.simulate("remove")
      try await monitor.line(containing: "gone", after: seen)
    }
    return latencies
  }

  /// Processor time and wake-ups of the daemon and its children while a tag rests on the reader.
  private func idleCost(_ installation: Installation) async throws -> [Results.Series] {
    guard let daemon = await installation.daemon?.identifier else { throw RigError("tagrouted does not run") }
    try await installation.simulate("tap \(BenchmarkTag.link(0))")
    try await rest()
    let processes = [daemon] + (try ProcessTree.children(of: daemon))
    let before = try processes.map { (try ProcessorTime.of($0), try ForeignProcess($0).wakeUps()) }
    try await Task.sleep(for: .seconds(idleSeconds))
    var series: [Results.Series] = []
    for (process, (time, earlier)) in zip(processes, before) {
      let wakeUps = try ForeignProcess(process).wakeUps().reduce(0) { $0 + $1.value - earlier[$1.key, default: 0] }
      let labels: KeyValuePairs = ["While a tag rests for \(idleSeconds) s": try ProcessTree.name(of: process)]
      series += [
        .init("processor time", [try ProcessorTime.of(process) - time], labels),
        .init("wake-ups", Double(wakeUps), "", labels),
      ]
    }
    try await installation.simulate("remove")
    return series
  }

  private func rest() async throws { try await Task.sleep(for: .milliseconds(Int.random(in: 150...350))) }
}
