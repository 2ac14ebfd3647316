import Glibc
import TestKit

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
