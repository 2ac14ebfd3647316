import Glibc

/// The directories in which the kernel shows devices, their state and processes, and in which running services keep
/// files.
///
/// A value that is read from an environment, so that a test can replace the directories. If they are absolute,
/// `TAGROUTE_DEV`, `TAGROUTE_SYS`, `TAGROUTE_PROC` and `TAGROUTE_RUN` replace `/dev`, `/sys`, `/proc` and `/run`, and
/// `TAGROUTE_PCSC_DRIVERS` the folders of pcscd's drivers.
public struct SystemDirectories: Sendable, Hashable {
  /// Device nodes.
  public let devices: String
  /// sysfs(5).
  public let kernel: String
  /// proc(5).
  public let processes: String
  /// Files and sockets of running services (file-hierarchy(7)).
  public let runtime: String
  /// The drivers of pcscd: one folder `NAME.bundle` each. The folder depends on the distribution.
  public let pcscDrivers: [String]

  /// - Parameter environment: a whole environment; by default the process's own.
  public init(environment: [String: String] = ProcessEnvironment.current) {
    func folder(_ name: String, _ standard: String) -> String {
      environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? standard
    }
    devices = folder("TAGROUTE_DEV", "/dev")
    kernel = folder("TAGROUTE_SYS", "/sys")
    processes = folder("TAGROUTE_PROC", "/proc")
    runtime = folder("TAGROUTE_RUN", "/run")
    let drivers = folder("TAGROUTE_PCSC_DRIVERS", "")
    let standard = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map { "\($0)/pcsc/drivers" }
    pcscDrivers = drivers.isEmpty ? standard : [drivers]
  }

  /// Whether systemd is the system's manager (sd_booted(3)). Only then does `systemctl` work.
  public var hasSystemd: Bool { access("\(runtime)/systemd/system", F_OK) == 0 }
}
