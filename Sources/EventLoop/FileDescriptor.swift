import Glibc

/// An open file descriptor with one owner, closed when the last reference goes.
public final class FileDescriptor: Sendable, Hashable {
  /// The number, valid as long as this object lives.
  public let rawValue: Int32

  /// Takes ownership: from here on nobody else closes `descriptor`.
  public init(owning descriptor: Int32) {
    rawValue = descriptor
  }

  /// A second descriptor for the same open file, close-on-exec.
  ///
  /// - Throws: `SystemError` where the process has no descriptor left.
  public func duplicate() throws(SystemError) -> FileDescriptor {
    let copy = fcntl(rawValue, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError("duplicate a file descriptor") }
    return FileDescriptor(owning: copy)
  }

  deinit {
    close(rawValue)
  }

  /// Two owners are equal where they own the same number.
  public static func == (a: FileDescriptor, b: FileDescriptor) -> Bool { a.rawValue == b.rawValue }

  /// Hashes the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

/// A failed system call: what was attempted, and why it failed.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was attempted, as the end of "cannot …".
  public let attempt: String
  /// The `errno` value.
  public let number: Int32

  /// - Parameters:
  ///   - attempt: what was attempted, as the end of "cannot …".
  ///   - number: the `errno` value.
  public init(_ attempt: String, errno number: Int32) {
    self.attempt = attempt
    self.number = number
  }

  /// The system call that has just failed, with the current `errno`.
  ///
  /// - Parameter attempt: what was attempted, as the end of "cannot …".
  public init(_ attempt: String) {
    self.init(attempt, errno: errno)
  }

  /// "cannot", the attempt, and the system's words for the error.
  public var description: String { "cannot \(attempt): \(String(cString: strerror(number)))" }
}
