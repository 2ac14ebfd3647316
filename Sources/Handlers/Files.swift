import Glibc
import KeyFile

/// Reading files that others write: each call is bounded and none waits for anybody.
enum Files {
  /// Whether there is a directory, a link to one included.
  static func isDirectory(_ path: String) -> Bool { identity(ofDirectory: path) != nil }

  /// Which directory it is, whatever path led to it.
  struct Identity: Hashable {
    let device: dev_t
    let number: ino_t
  }

  /// Which directory `path` leads to, links followed; nil where it is none.
  static func identity(ofDirectory path: String) -> Identity? {
    var information = stat()
    guard stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else { return nil }
    return Identity(device: information.st_dev, number: information.st_ino)
  }

  /// The bytes of a file of at most `maximumSize`.
  ///
  /// - Parameters:
  ///   - path: the file, or a link to it.
  ///   - maximumSize: in bytes.
  ///   - tooLarge: what is said of a file that is larger.
  /// - Returns: nil where there is no such file: it may have gone since its directory was read.
  /// - Throws: `HandlerProblem` where it cannot be read, is too large, or no file at all.
  static func contents(
    of path: String, maximumSize: Int = KeyFile.maximumSize,
    tooLarge: String = "is larger than 1 MiB, which no desktop entry is; remove it"
  ) throws(HandlerProblem) -> [UInt8]? {
    do throws(FileContents.Failure) {
      let bytes = try FileContents.read(path, upTo: maximumSize)
      guard let bytes, bytes.count > maximumSize else { return bytes }
    } catch {
      switch error {
      case .notAFile: throw HandlerProblem(file: path, message: "is not a file; remove it")
      case .unreadable(let message): throw HandlerProblem(file: path, message: "cannot be read: \(message)")
      }
    }
    throw HandlerProblem(file: path, message: tooLarge)
  }

  /// Whether one of `words` stands in `bytes` before their first zero.
  static func mentions(_ bytes: [UInt8], anyOf words: [String]) -> Bool {
    (bytes + [0]).withUnsafeBytes { buffer in
      guard let text = buffer.assumingMemoryBound(to: CChar.self).baseAddress else { return false }
      return words.contains { strstr(text, $0) != nil }
    }
  }
}
