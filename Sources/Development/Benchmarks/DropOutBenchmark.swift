import Bus
import TestKit

/// How many drop-outs of a resting tag are taken for a removal and a new tap: with the default `RemovalDelay=`, and
/// without a delay. The programs, libnfc, pcscd and the buses are real. The server of notifications is a stand-in that
/// counts.
struct DropOutBenchmark {
  /// The drop-outs of each length.
  let rounds: Int

  /// The lengths in milliseconds. Those of public bug reports are up to 200.
  private static let lengths = Array(stride(from: 20, through: 200, by: 20))
  /// Longer than the delay and the reader's looks, so that each drop-out has been settled.
  private static let settling = Duration.milliseconds(900)

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build(and: ["tagroute-reader-pcsc", "tagroute-ifd"])
    for kind in [Installation.Reader.serial, .pcsc] {
      for delay in ["400", "0"] {
        for (length, taps) in zip(Self.lengths, try await measure(kind, delay)) {
          results += Results.Series(
            "new taps of \(rounds) drop-outs", Double(taps), "",
            ["Reader": kind == .pcsc ? "PC/SC" : "PN532", "RemovalDelay=": delay, "Length": "\(length) ms"])
        }
      }
    }
  }

  private func measure(_ kind: Installation.Reader, _ delay: String) async throws -> [Int] {
    var options = Installation.Options()
    options.reader = kind
    options.daemonSettings["Scan", default: []].append("RemovalDelay=\(delay)")
    let installation = try await Installation(options)
    let server = try await installation.startWithMenu()
    let tap = "tap https://menu.example.com/1 --type 2 --uid 04000000000001"
    try await installation.simulate(tap)
    _ = try await server.next()
    var results: [Int] = []
    for length in Self.lengths {
      let before = await server.all.count
      for _ in 0..<rounds {
        try await installation.simulate("remove")
        try await Task.sleep(for: .milliseconds(length))
        try await installation.simulate(tap)
        try await Task.sleep(for: Self.settling)
      }
      results.append(await server.all.count - before)
    }
    await installation.stop()
    return results
  }
}
