import Doctor
import Glibc
import Names
import Rig

/// Requirements of the demo that the daemon's package does not contain.
extension Demo {
  /// The desktop entry of the sample app, in the folder of the examples.
  static let entry = "org.example.Menu.desktop"

  /// Where `Packaging/install` puts the sample app. `program` is the directory of this program, which has `share`
  /// beside it.
  static func installedExamples(beside program: String?) -> String {
    let prefix = program.flatMap { folder in folder.lastIndex(of: "/").map { String(folder[..<$0]) } } ?? "/usr"
    return "\(prefix)/share/tagroute/examples"
  }

  /// The failure has the command that installs what the simulated reader needs.
  static func checkSimulator(_ reader: Installation.Reader) throws(Failure) {
    if (try? BuiltProducts.program("tagroute-simulator")) == nil {
      throw Failure(
        message: "demo needs tagroute-simulator, which is not installed: \(Setup.current.installingSimulator.text)",
        exitCode: Names.ExitCode.failure)
    }
    guard reader == .pcsc, (try? BuiltProducts.systemProgram("pcscd", package: "pcscd")) == nil else { return }
    throw Failure(
      message: "demo --pcsc needs pcscd, which is not installed: \(Setup.current.installingPCSCD.text)",
      exitCode: Names.ExitCode.failure)
  }

  func checkExamples() throws(Failure) {
    let file = "\(examples)/\(Demo.entry)"
    guard access(file, R_OK) != 0 else { return }
    throw Failure(
      message: """
        demo: the sample app is missing: \(file): \(String(cString: strerror(errno))); it comes with \
        tagroute-simulator, and --examples names another folder
        """, exitCode: Names.ExitCode.failure)
  }
}

extension Installation.Reader {
  /// The simulated reader and what drives it, for a line of the demo.
  var description: String {
    switch self {
    case .serial: "a simulated PN532 reader, libnfc"
    case .pcsc: "a simulated ACR1252U, pcscd"
    case .others: "readers of others"
    }
  }
}
