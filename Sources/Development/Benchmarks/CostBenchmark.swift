import EventLoop
import Glibc
import Settings
import TestKit

/// The cost of the daemon and its reader process while they poll: memory, and processor time over a period. Both poll
/// intervals are measured: the one in the minutes after a tap, and the idle one after that.
struct CostBenchmark {
  let seconds: Int
  /// The timing of the simulated chip: `fast` or `real`.
  var timing = "fast"

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build()
    let configuration = DaemonConfiguration()
    results += try await measure("every \(configuration.pollInterval)", [:])
    let idle = configuration.idlePollInterval
    results += try await measure("idle, every \(idle)", ["Reader": ["PollInterval=\(Int(idle / .milliseconds(1)))"]])
  }

  private func measure(_ title: String, _ settings: [String: [String]]) async throws -> [Results.Series] {
    var options = Installation.Options()
    options.timing = timing
    options.daemonSettings.merge(settings) { $1 }
    let installation = try await Installation(options)
    try await installation.startAll()
    try await installation.waitUntilScanning()
    guard let daemon = await installation.daemon?.identifier else { throw RigError("tagrouted does not run") }
    let processes = [daemon] + (try ProcessTree.children(of: daemon))
    let before = try processes.map { try ProcessorTime.of($0) }
    try await Task.sleep(for: .seconds(seconds))
    var series: [Results.Series] = []
    for (process, before) in zip(processes, before) {
      let share = (try ProcessorTime.of(process) - before) / .seconds(seconds) * 100
      let memory = try ProcessMemory(of: process)
      let labels: KeyValuePairs = [
        "Looks": title, "Process": process == daemon ? "tagrouted" : "tagroute-reader",
      ]
      series += memory.series(labels) + [.init("processor time", share, "% of a core", labels)]
    }
    await installation.stop()
    return series
  }
}

/// What smaps_rollup says about a process, in kilobytes, see proc_pid_smaps(5).
struct ProcessMemory {
  var resident = 0
  /// Pages written by this process. No other process can share them, and the kernel cannot drop them.
  var written = 0
  /// Pages of files, mainly the program's code, that no other process maps at the moment. The kernel can drop them.
  var alone = 0

  func series(_ labels: KeyValuePairs<String, String>) -> [Results.Series] {
    [
      .init("resident", Double(resident), "kB", labels), .init("private and written", Double(written), "kB", labels),
      .init("of files mapped by it alone", Double(alone), "kB", labels),
    ]
  }
}

extension ProcessMemory {
  init(of process: Int32) throws {
    let text = String(decoding: try readFile("/proc/\(process)/smaps_rollup"), as: UTF8.self)
    var values: [String: Int] = [:]
    for row in text.split(separator: "\n") {
      let words = row.split(separator: " ", omittingEmptySubsequences: true)
      if words.count == 3, let number = Int(words[1]) { values[String(words[0].dropLast())] = number }
    }
    resident = values["Rss", default: 0]
    written = values["Private_Dirty", default: 0]
    alone = values["Private_Clean", default: 0]
  }
}

enum ProcessorTime {
  /// User and system time since the start of the process, in steps of a clock tick.
  static func of(_ process: Int32) throws -> Duration {
    // Fields 14 and 15 of proc_pid_stat(5). The list starts with field 3, which follows the name.
    let stat = String(decoding: try readFile("/proc/\(process)/stat"), as: UTF8.self)
    let fields = stat.drop { $0 != ")" }.dropFirst(2).split(separator: " ")
    guard fields.count > 13, let user = Int(fields[11]), let system = Int(fields[12]) else {
      throw RigError("cannot read /proc/\(process)/stat")
    }
    return .seconds(1) * (user + system) / sysconf(Int32(_SC_CLK_TCK))
  }

  /// User and system time of all children of this process that have ended and were reaped.
  static func ofEndedChildren() -> Duration {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(.zero) { $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec) }
  }
}

/// What /proc says about a process and its children.
enum ProcessTree {
  /// The processes that a process has started and that still live.
  static func children(of process: Int32) throws -> [Int32] {
    guard let threads = fileNames(in: "/proc/\(process)/task") else { throw RigError("process \(process) is gone") }
    return try threads.flatMap { thread in
      let list = String(decoding: try readFile("/proc/\(process)/task/\(thread)/children"), as: UTF8.self)
      return list.split(separator: " ").compactMap { Int32($0) }
    }
  }

  /// The program's name. That of the process that lists pcscd's readers ends with its option.
  static func name(of process: Int32) throws -> String {
    let words = try ForeignProcess(process).commandLine
    return (words.first?.split(separator: "/").last ?? "") + (words.contains("--list") ? " --list" : "")
  }

  /// How many descriptors a process has open.
  static func descriptors(of process: Int32) throws -> Int {
    guard let names = fileNames(in: "/proc/\(process)/fd") else { throw RigError("process \(process) is gone") }
    return names.count
  }
}
