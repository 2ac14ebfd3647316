import Glibc

/// The environment that the process was started with.
///
/// Read once and handed on as a value. A test gives another one.
public enum ProcessEnvironment {
  /// How libdispatch is asked to log nothing (`_dispatch_logv_init` in its `init.c`).
  private static let dispatchLog = "LIBDISPATCH_LOG"

  /// Keeps libdispatch from writing to the system's log that it may not raise its threads' priority, as it would at each start.
  ///
  /// Call it first: libdispatch reads the variable once, when it has something to log.
  public static func silenceDispatch() { setenv(dispatchLog, "NO", 0) }

  /// Variables and their values, without the one that `silenceDispatch` sets. What has no `=` is left out; bytes that are not UTF-8
  /// are replaced.
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
