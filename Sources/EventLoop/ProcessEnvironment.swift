import Glibc

/// The environment that the process was started with.
///
/// Read once and handed on as a value: nothing of ours changes it, and a test gives another one.
public enum ProcessEnvironment {
  /// Variables and their values. What has no `=` is left out; bytes that are not UTF-8 are replaced.
  public static var current: [String: String] {
    var result: [String: String] = [:]
    var pointer = environ
    while let entry = pointer.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        result[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      pointer += 1
    }
    return result
  }
}
