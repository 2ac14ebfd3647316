import Glibc
import Rig

/// What processes have computed.
enum ProcessorTime {
  /// - Parameter process: its id.
  /// - Returns: user and system time since it was started, in steps of a clock tick.
  /// - Throws: `RigError` where there is no such process.
  static func of(_ process: Int32) throws -> Duration {
    // Fields 14 and 15 of proc_pid_stat(5), the third of which follows the name.
    let stat = String(decoding: try readFile("/proc/\(process)/stat"), as: UTF8.self)
    let fields = stat.drop { $0 != ")" }.dropFirst(2).split(separator: " ")
    guard fields.count > 13, let user = Int(fields[11]), let system = Int(fields[12]) else {
      throw RigError("cannot read /proc/\(process)/stat")
    }
    return .seconds(1) * (user + system) / sysconf(Int32(_SC_CLK_TCK))
  }

  /// User and system time of all children of this process that have ended and were waited for.
  static func ofEndedChildren() -> Duration {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(.zero) { $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec) }
  }
}
