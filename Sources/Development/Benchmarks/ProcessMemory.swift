import EventLoop
import TestKit

/// What smaps_rollup says about a process, in kilobytes, see proc_pid_smaps(5).
struct ProcessMemory {
  var resident = 0
  /// Pages written by this process. No other process can share them, and the kernel cannot drop them.
  var written = 0
  /// Pages of files, mainly the program's code, that no other process maps at the moment. The kernel can drop them.
  var alone = 0

  static func += (a: inout ProcessMemory, b: ProcessMemory) {
    a.resident += b.resident
    a.written += b.written
    a.alone += b.alone
  }

  /// Both kinds of pages that belong to this process only.
  var kinds: String { "\(written) kB private and written, \(alone) kB of files mapped by it alone" }
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
