import Glibc
import TagrouteClient
import TestKit

/// nfcpy, installed by Packaging/python-package, and the small program that runs it.
enum Nfcpy {
  static let version = "1.0.4"
  static let script = "Sources/Development/Benchmarks/Nfcpy/nfcpy-reader.py"

  /// The Python interpreter that has nfcpy. If it is missing, the error has the installation command.
  static func python() throws -> String {
    let path = ".build/nfcpy-\(version)/bin/python3"
    guard access(path, X_OK) == 0, access(script, R_OK) == 0 else {
      throw RigError("nfcpy is not here: in the package's folder, Packaging/python-package nfcpy \(version) nfc")
    }
    return path
  }

  /// The outcome for a tag in a line that `nfcpy-reader.py` has printed; nil if the line reports none.
  static func outcome(_ line: String) -> Outcome? {
    let words = line.split(separator: " ", maxSplits: 1)
    let rest = words.count > 1 ? String(words[1]) : ""
    switch words.first {
    case "message": return rest.isEmpty ? .message([]) : Hexadecimal.bytes(rest).map(Outcome.message)
    case "written": return .written
    case "no-message", "error": return .failure(line)
    default: return nil
    }
  }
}
