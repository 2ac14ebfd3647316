/// Where the kernel shows devices, their state and the processes.
///
/// A value of an environment, so that a test can say what there is: `TAGROUTE_DEV`, `TAGROUTE_SYS` and `TAGROUTE_PROC`, where they
/// are absolute, name other folders than `/dev`, `/sys` and `/proc`.
public struct SystemDirectories: Sendable, Hashable {
  /// Device nodes.
  public let devices: String
  /// sysfs(5).
  public let kernel: String
  /// proc(5).
  public let processes: String

  /// - Parameter environment: a whole environment; by default the process's own.
  public init(environment: [String: String] = ProcessEnvironment.current) {
    func folder(_ name: String, _ standard: String) -> String {
      environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? standard
    }
    devices = folder("TAGROUTE_DEV", "/dev")
    kernel = folder("TAGROUTE_SYS", "/sys")
    processes = folder("TAGROUTE_PROC", "/proc")
  }
}
