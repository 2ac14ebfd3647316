import CommandLineTool
import Glibc
import Names
import Rig

/// Requirements of the demo that the daemon's package does not contain.
extension Demo {
  /// The desktop entry of the sample app, in the folder of the examples.
  static let entry = "org.example.Menu.desktop"

  /// The folder of the system's pcscd. A private one needs it too, but does not use it.
  private static let pcscdFolder = "/run/pcscd"

  /// Where `Packaging/install` puts the sample app. `program` is the directory of this program, which has `share`
  /// beside it.
  static func installedExamples(beside program: String?) -> String {
    let prefix = program.flatMap { folder in folder.lastIndex(of: "/").map { String(folder[..<$0]) } } ?? "/usr"
    return "\(prefix)/share/tagroute/examples"
  }

  /// The absolute path of a folder, for programs that run in another one. A missing folder stays as it is.
  static func absolute(_ folder: String) -> String {
    guard let path = realpath(folder, nil) else { return folder }
    defer { free(path) }
    return String(cString: path)
  }

  /// The failure has the command that installs what the reader needs.
  static func check(_ reader: Installation.Reader) throws(Failure) {
    guard reader == .pcsc else { return }
    if (try? BuiltProducts.systemProgram("pcscd", package: "pcscd")) == nil {
      throw Failure(
        message: "demo --pcsc needs pcscd, which is not installed: \(Setup.current.installingPCSCD.text)",
        exitCode: Names.ExitCode.failure)
    }
    // pcscd creates the folder if it can, and ends without it. systemd creates it for pcscd.socket.
    guard geteuid() != 0, access(pcscdFolder, F_OK) != 0 else { return }
    throw Failure(
      message: "demo --pcsc needs the folder of pcscd, which is missing: sudo mkdir \(pcscdFolder)",
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
