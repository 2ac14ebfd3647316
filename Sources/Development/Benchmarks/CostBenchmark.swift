import Glibc
import Settings
import TestKit

/// The cost of the daemon and its reader process while they poll: memory, and processor time over a period. Both poll
/// intervals are measured: the one in the minutes after a tap, and the idle one after that.
struct CostBenchmark {
  let seconds: Int
  /// The timing of the simulated chip: `fast` or `real`.
  var timing = "fast"

  func run() async throws {
    try await Programs.build()
    let configuration = DaemonConfiguration()
    try await run("looks every \(configuration.pollInterval)", [:])
    let idle = configuration.idlePollInterval
    try await run(
      "idle, looks every \(idle)", ["Reader": ["PollInterval=\(Int(idle / .milliseconds(1)))"]])
  }

  private func run(_ title: String, _ settings: [String: [String]]) async throws {
    print("\(title):")
    var options = Installation.Options()
    options.timing = timing
    options.daemonSettings.merge(settings) { $1 }
    let installation = try await Installation(options)
    try await installation.startAll()
    try await installation.waitUntilScanning()
    guard let daemon = await installation.daemon?.identifier else { throw RigError("tagrouted does not run") }
    let processes = [("tagrouted", daemon)] + (try ProcessTree.children(of: daemon)).map { ("tagroute-reader", $0) }
    let before = try processes.map { try ProcessorTime.of($0.1) }
    try await Task.sleep(for: .seconds(seconds))
    let after = try processes.map { try ProcessorTime.of($0.1) }
    var total = ProcessMemory()
    var totalShare = 0.0
    for (index, process) in processes.enumerated() {
      let memory = try ProcessMemory(of: process.1)
      let share = (after[index] - before[index]) / .seconds(1) / Double(seconds) * 100
      print(line(process.0, memory, share))
      total += memory
      totalShare += share
    }
    print(line("together", total, totalShare))
    await installation.stop()
  }

  private func line(_ name: String, _ memory: ProcessMemory, _ share: Double) -> String {
    let hundredths = Int((share * 100).rounded())
    let percent = "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    return
      "\(name): \(memory.resident) kB resident (\(memory.kinds)), \(percent) % of a core over \(seconds) s of polling"
  }
}
