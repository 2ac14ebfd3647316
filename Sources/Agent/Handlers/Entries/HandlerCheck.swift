import EventLoop
import Glibc
import UniversalLinks

/// Checks a file for its author before it is installed.
package enum HandlerCheck {
  /// Checks one file. A path that ends in `.desktop` is a desktop entry, which is checked with the file of path rules
  /// that it names. Any other path is a file of path rules. Blocks on files. Returns the errors, and the parts without
  /// effect; empty if all is well.
  package static func problems(
    in path: String, environment: [String: String] = ProcessEnvironment.current
  ) -> [HandlerProblem] {
    // Problems show a relative path as it was given. A bare name gets `./`, so that files the entry names are found
    // beside it.
    let path = path.contains("/") ? path : "./" + path
    guard access(path, F_OK) == 0 else {
      return [HandlerProblem(file: path, message: String(cString: strerror(errno)))]
    }
    guard path.hasSuffix(".desktop") else { return LinkRules(path: path).problems() }
    return HandlerScan(checking: path, id: id(of: path), environment: environment).problems
  }

  /// The desktop file id: the path below the directory of desktop entries, with `-` for `/` (Desktop Entry
  /// Specification, "Desktop File ID"). Elsewhere, it is the name of the file.
  static func id(of path: String) -> String {
    let parts = path.split(separator: "/")
    let start = parts.dropLast().lastIndex(of: "applications").map { $0 + 1 } ?? parts.count - 1
    return parts[max(start, 0)...].joined(separator: "-")
  }
}
