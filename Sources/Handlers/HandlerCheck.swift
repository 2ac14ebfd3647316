public import EventLoop
import Glibc
import UniversalLinks

/// What is wrong with a file before it is installed, for whoever writes it.
public enum HandlerCheck {
  /// Looks at one file: a desktop entry, with the file of path rules that it names; or, where its name does not end in `.desktop`, a
  /// file of path rules. Blocks on files.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - environment: for `PATH`, and the working directory where the path is a relative one.
  /// - Returns: what is wrong, and what has no effect; empty where all is well.
  public static func problems(
    in path: String, environment: [String: String] = ProcessEnvironment.current
  ) -> [HandlerProblem] {
    // Relative paths are named as they were given, but for what an entry names beside itself.
    let path = path.contains("/") ? path : "./" + path
    guard access(path, F_OK) == 0 else {
      return [HandlerProblem(file: path, message: String(cString: strerror(errno)))]
    }
    guard path.hasSuffix(".desktop") else { return LinkRulesFile(path: path).problems() }
    return HandlerScan(checking: path, id: id(of: path), environment: environment).problems
  }

  /// The desktop file id: what follows the directory of desktop entries, with `-` for `/` (Desktop Entry Specification, "Desktop File
  /// ID"); elsewhere the name of the file.
  static func id(of path: String) -> String {
    let parts = path.split(separator: "/")
    let start = parts.dropLast().lastIndex(of: "applications").map { $0 + 1 } ?? parts.count - 1
    return parts[max(start, 0)...].joined(separator: "-")
  }
}
