import EventLoop
import Glibc

/// Where the programs under test are: the build folder that this test was built into.
public enum BuiltProducts {
  /// The path of the program `name`.
  ///
  /// - Parameter name: an executable of the package, which the test target must depend on.
  /// - Returns: the absolute path.
  /// - Throws: `RigError` where it was not built.
  public static func program(_ name: String) throws -> String {
    guard let folder = OwnProgram.directory else { throw RigError("cannot read /proc/self/exe") }
    let path = "\(folder)/\(name)"
    guard access(path, X_OK) == 0 else {
      throw RigError("\(path) is not built: name \(name) among the dependencies of the test's target")
    }
    return path
  }

  /// The path of a program of the system, looked up in `PATH` and the sbin folders.
  ///
  /// - Parameters:
  ///   - name: the program.
  ///   - package: the Debian package that holds it.
  /// - Returns: the absolute path.
  /// - Throws: `RigError`, which names the package, where it is not installed.
  public static func systemProgram(_ name: String, package: String) throws -> String {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    for folder in "\(path):/usr/sbin:/sbin".split(separator: ":") where access("\(folder)/\(name)", X_OK) == 0 {
      return "\(folder)/\(name)"
    }
    throw RigError("\(name) is not installed: apt-get install \(package)")
  }
}
