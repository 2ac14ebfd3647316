import Glibc
import Rig

/// nfcpy, installed by Packaging/python-package, and the small program that runs it.
enum Nfcpy {
  static let version = "1.0.4"
  static let script = "Sources/Benchmarks/Nfcpy/nfcpy-reader.py"

  /// The Python interpreter that has nfcpy.
  ///
  /// - Throws: `RigError` with the installation command if it is missing.
  static func python() throws -> String {
    let path = ".build/nfcpy-\(version)/bin/python3"
    guard access(path, X_OK) == 0, access(script, R_OK) == 0 else {
      throw RigError("nfcpy is not here: in the package's folder, Packaging/python-package nfcpy \(version) nfc")
    }
    return path
  }

  /// - Parameter line: a line that `nfcpy-reader.py` has printed.
  /// - Returns: the outcome for a tag; nil if the line reports none.
  static func outcome(_ line: String) -> Outcome? {
    let words = line.split(separator: " ", maxSplits: 1)
    let rest = words.count > 1 ? String(words[1]) : ""
    switch words.first {
    case "message": return bytes(rest).map(Outcome.message)
    case "written": return .written
    case "no-message", "error": return .failure(line)
    default: return nil
    }
  }

  /// Two hexadecimal digits per byte.
  static func digits(_ bytes: [UInt8]) -> String {
    bytes.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
  }

  private static func bytes(_ digits: String) -> [UInt8]? {
    let values = Array(digits.utf8).map { Character(UnicodeScalar($0)).hexDigitValue }
    guard values.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: values.count, by: 2) {
      guard let high = values[index], let low = values[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}
