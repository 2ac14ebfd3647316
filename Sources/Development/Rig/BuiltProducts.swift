import EventLoop
import Glibc

/// Finds our own programs: in the build folder of this program, or installed together with it.
package enum BuiltProducts {
  /// The folder of other programs to use, as they are installed; nil for those beside this one.
  package static var otherFolder: String? { getenv("TAGROUTE_PROGRAMS").map { String(cString: $0) } }

  package static func isInOtherFolder(_ name: String) -> Bool {
    otherFolder.map { (try? program(name, beside: $0)) != nil } ?? false
  }

  /// The absolute path of an executable of the package. The test's target must depend on it.
  package static func program(_ name: String) throws -> String {
    if let folder = otherFolder, let path = try? program(name, beside: folder) { return path }
    guard let folder = OwnProgram.directory else { throw RigError("cannot read /proc/self/exe") }
    return try program(name, beside: folder)
  }

  /// The path of the program `name`, in a folder or in the libexec folder next to it.
  static func program(_ name: String, beside folder: String) throws -> String {
    let paths = ["\(folder)/\(name)", "\(folder)/../libexec/\(name)"]
    guard let path = paths.first(where: { access($0, X_OK) == 0 }) else {
      throw RigError(
        "\(name) is not in \(folder): install it, or name it among the dependencies of the target that is built")
    }
    return path
  }

  /// The path of a program of the system, found in `PATH` and the sbin folders. The error names the Debian package that
  /// holds it.
  package static func systemProgram(_ name: String, package: String) throws -> String {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    for folder in "\(path):/usr/sbin:/sbin".split(separator: ":") where access("\(folder)/\(name)", X_OK) == 0 {
      return "\(folder)/\(name)"
    }
    throw RigError("\(name) is not installed: apt-get install \(package)")
  }
}

/// The absolute path of the checkout that this program was built from, for tests that read the project's own files.
package let repositoryRoot = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
