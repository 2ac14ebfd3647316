import Glibc

/// The environment that the process was started with.
///
/// Read it once and pass it on as a value. A test passes another one.
public enum ProcessEnvironment {
  /// The variable that can make libdispatch log no messages (`_dispatch_logv_init` in its `init.c`).
  private static let dispatchLog = "LIBDISPATCH_LOG"

  /// Keeps libdispatch from writing to the system's log, at each start, that it may not raise its threads' priority.
  ///
  /// Call it first: libdispatch reads the variable once, before its first log message.
  public static func silenceDispatch() { setenv(dispatchLog, "NO", 0) }

  /// Variables and their values, without the one that `silenceDispatch` sets. Entries without `=` are left out. Bytes
  /// that are not UTF-8 are replaced.
  public static var current: [String: String] {
    var result: [String: String] = [:]
    var pointer = environ
    while let entry = pointer.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "="), text[..<equals] != dispatchLog {
        result[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      pointer += 1
    }
    return result
  }
}

/// The directories for a user's files and for the system's files (XDG Base Directory Specification 0.8).
///
/// A value that is read from an environment, so that every search for a directory finds the same one.
public struct BaseDirectories: Sendable, Hashable {
  /// `XDG_CONFIG_HOME`, by default below `HOME`; nil if neither is an absolute path.
  public let configuration: String?
  /// `XDG_DATA_HOME`, by default below `HOME`; nil if neither is an absolute path.
  public let data: String?
  /// `XDG_STATE_HOME`, by default below `HOME`; nil if neither is an absolute path.
  public let state: String?
  /// `XDG_CONFIG_DIRS`, the most important first, without the user's own directory.
  public let systemConfiguration: [String]
  /// `XDG_DATA_DIRS`, the most important first, without the user's own directory. nil if the variable is not set or
  /// empty, which means ``standardSystemData``.
  public let systemData: [String]?

  /// The specification's default for `XDG_DATA_DIRS`.
  public static let standardSystemData = ["/usr/local/share", "/usr/share"]

  /// Ignores relative paths, as the specification requires.
  ///
  /// - Parameter environment: a whole environment; by default the process's own.
  public init(environment: [String: String] = ProcessEnvironment.current) {
    func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    // The home of a service may be `/`. The slash at its end is dropped, because the appended path starts with one.
    let home = absolute("HOME").map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    func user(_ name: String, _ path: String) -> String? { absolute(name) ?? home.map { "\($0)/\(path)" } }
    func list(_ name: String) -> [String]? {
      guard let value = environment[name], !value.isEmpty else { return nil }
      return value.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }
    configuration = user("XDG_CONFIG_HOME", ".config")
    data = user("XDG_DATA_HOME", ".local/share")
    state = user("XDG_STATE_HOME", ".local/state")
    systemConfiguration = list("XDG_CONFIG_DIRS") ?? ["/etc/xdg"]
    systemData = list("XDG_DATA_DIRS")
  }
}

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

/// The location of this program. Files that were built or installed together with it are found from there.
public enum OwnProgram {
  /// The directory of the program; nil if it is unknown or not UTF-8.
  public static var directory: String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &buffer, buffer.count)
    guard length > 0, let slash = buffer[..<length].lastIndex(of: CChar(UInt8(ascii: "/"))) else { return nil }
    return String(validating: buffer[..<slash].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
