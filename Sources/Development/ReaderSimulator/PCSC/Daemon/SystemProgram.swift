import Glibc

/// Programs of the system.
enum SystemProgram {
  /// The path of a program in `PATH` or one of the folders for administrators. The error names the Debian package that
  /// holds it.
  static func path(of name: String, package: String) throws(SimulatorError) -> String {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    for folder in "\(path):/usr/sbin:/sbin".split(separator: ":") where access("\(folder)/\(name)", X_OK) == 0 {
      return "\(folder)/\(name)"
    }
    throw SimulatorError("\(name) is not installed: apt-get install \(package)")
  }
}
