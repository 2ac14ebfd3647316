import EventLoop
import Glibc

/// Where our own programs are: in the build folder that this one was built into, or installed together with it.
public enum BuiltProducts {
  /// The path of the program `name`.
  ///
  /// - Parameter name: an executable of the package, which a test's target must depend on.
  /// - Returns: the absolute path.
  /// - Throws: `RigError` where it was not built, or is not installed.
  public static func program(_ name: String) throws -> String {
    guard let folder = OwnProgram.directory else { throw RigError("cannot read /proc/self/exe") }
    return try program(name, beside: folder)
  }

  /// The path of the program `name`, in a folder or in the libexec beside it.
  static func program(_ name: String, beside folder: String) throws -> String {
    let paths = ["\(folder)/\(name)", "\(folder)/../libexec/\(name)"]
    guard let path = paths.first(where: { access($0, X_OK) == 0 }) else {
      throw RigError(
        "\(name) is not in \(folder): install it, or name it among the dependencies of the target that is built")
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
