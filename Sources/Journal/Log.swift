import Glibc

/// How grave a log line is, as syslog(3) and sd-daemon(3) number it.
///
/// - `error`: something a person must act on; the line says what to do.
/// - `warning`: something failed and the program went on by itself.
/// - `notice`: a change of state that a person wants to find later (a reader came or went).
/// - `info`: the course of work, a line a tap at most.
/// - `debug`: everything else, and the only level at which the contents of a tag may appear.
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
  case error = 3
  case warning = 4
  case notice = 5
  case info = 6
  case debug = 7

  /// A graver level is the lesser one.
  public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// What a tag holds, or where it leads: private, so it prints as its size unless the line is for debugging.
public struct Redacted: Sendable, CustomStringConvertible {
  /// What a debug line shows.
  public let plain: String
  private let shape: String

  /// - Parameters:
  ///   - plain: what a debug line shows.
  ///   - shape: what any other line shows: never the content itself, for example `"uri, 31 bytes"`.
  public init(_ plain: String, as shape: String) {
    self.plain = plain
    self.shape = shape
  }

  /// The shape alone.
  public var description: String { "<\(shape)>" }
}

/// Writes lines to standard error with the journal's priority prefix (`<4>`), one `write` a line.
///
/// A line is a single line: whatever in it would act where it is read, from wherever it came, is shown as an escape.
public struct Log: Sendable {
  /// The least grave level that is written.
  public let threshold: LogLevel
  private let prefixed: Bool

  /// - Parameters:
  ///   - threshold: the least grave level that is written.
  ///   - prefixed: whether each line starts with its priority in angle brackets, as journald reads it.
  public init(threshold: LogLevel, prefixed: Bool) {
    self.threshold = threshold
    self.prefixed = prefixed
  }

  /// The log that the environment asks for: `TAGROUTE_LOG` names the threshold (`error` to `debug`, `info` by default),
  /// and lines carry priorities where systemd reads them (`JOURNAL_STREAM`) or standard error is not a terminal.
  public static func fromEnvironment() -> Log {
    let name = getenv("TAGROUTE_LOG").map { String(cString: $0) }
    let threshold = LogLevel.allCases.first { "\($0)" == name } ?? .info
    return Log(threshold: threshold, prefixed: getenv("JOURNAL_STREAM") != nil || isatty(STDERR_FILENO) == 0)
  }

  /// Writes one line. `text` is not evaluated where the level is below the threshold.
  public func callAsFunction(_ level: LogLevel, _ text: @autoclosure () -> String) {
    guard level <= threshold else { return }
    var line = prefixed ? "<\(level.rawValue)>" : ""
    line += Escaping.printable(text()) + "\n"
    line.withUTF8 { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = unsafeWrite(rest)
        guard written > 0 else { return }
        rest = rest.dropFirst(written)
      }
    }
  }

  /// Writes one debug line about something private, and nothing at any other threshold.
  public func debug(_ text: @autoclosure () -> String, _ secret: Redacted) {
    self(.debug, "\(text()) \(secret.plain)")
  }

  private func unsafeWrite(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
    UnsafeBufferPointer(rebasing: bytes).withMemoryRebound(to: UInt8.self) { buffer in
      var written = write(STDERR_FILENO, buffer.baseAddress, buffer.count)
      while written < 0 && errno == EINTR { written = write(STDERR_FILENO, buffer.baseAddress, buffer.count) }
      return written
    }
  }
}
