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
