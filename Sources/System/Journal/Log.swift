import Glibc

/// The severity of a log line, with the numbers of syslog(3) and sd-daemon(3).
///
/// - `error`: a person must act; the line says what to do.
/// - `warning`: an operation failed and the program continued.
/// - `notice`: a change of state that a person may look for later (a reader was added or removed).
/// - `info`: normal work, at most one line per tap.
/// - `debug`: all other lines, and the only level at which the contents of a tag may appear.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
  case error = 3
  case warning = 4
  case notice = 5
  case info = 6
  case debug = 7

  /// The more severe level is the lesser one.
  package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// The contents of a tag, or the target of its link. Both are private, so only a debug line shows them; other lines
/// show the size.
package struct Redacted: Sendable, CustomStringConvertible {
  package let plain: String
  private let shape: String

  /// `shape` never contains the private content, such as `uri, 31 bytes`.
  package init(_ plain: String, as shape: String) {
    self.plain = plain
    self.shape = shape
  }

  /// Only the shape, in angle brackets.
  package var description: String { "<\(shape)>" }
}

/// Writes lines to standard error with the journal's priority prefix (`<4>`), one `write` per line.
///
/// Each text becomes a single line. Characters that a terminal or a log viewer would act on are escaped, regardless of
/// their source.
package struct Log: Sendable {
  /// Less severe lines are not written.
  package let threshold: LogLevel
  private let prefixed: Bool

  /// If `prefixed`, each line starts with its priority in angle brackets, for journald.
  package init(threshold: LogLevel, prefixed: Bool) {
    self.threshold = threshold
    self.prefixed = prefixed
  }

  /// `TAGROUTE_LOG` names the threshold (`error` to `debug`, `info` by default). Lines carry priorities if systemd
  /// reads them (`JOURNAL_STREAM`) or standard error is not a terminal.
  package static func fromEnvironment() -> Log {
    let name = getenv("TAGROUTE_LOG").map { String(cString: $0) }
    let threshold = LogLevel.allCases.first { "\($0)" == name } ?? .info
    return Log(threshold: threshold, prefixed: getenv("JOURNAL_STREAM") != nil || isatty(STDERR_FILENO) == 0)
  }

  /// `text` is not evaluated if the level is below the threshold.
  package func callAsFunction(_ level: LogLevel, _ text: @autoclosure () -> String) {
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

  /// At any other threshold than `debug`, it writes no line.
  package func debug(_ text: @autoclosure () -> String, _ secret: Redacted) {
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

/// Decides which scalars of a text must be escaped: those that a terminal obeys, that change how their neighbours look,
/// or that are invisible. Ask about each scalar in turn.
package struct Escaping {
  /// The maximum number of combining marks on one character, more than any language needs.
  private static let maximumMarks = 4
  /// On the current character. Starts at the maximum if no character can carry a mark.
  private var marks = Escaping.maximumMarks

  package init() {}

  /// `scalar` is the next of the text.
  package mutating func escapes(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
      marks = Self.maximumMarks
      return true
    // Before an embedded text, or between columns, our own text has one of these. No mark of the embedded text may
    // attach to it.
    case .spaceSeparator, .openPunctuation, .initialPunctuation:
      marks = Self.maximumMarks
      return false
    case .nonspacingMark, .enclosingMark:
      guard marks < Self.maximumMarks else { return true }
      marks += 1
    default: marks = scalar == "\"" ? Self.maximumMarks : 0
    }
    // An invisible character, for example a Hangul filler, can hide the text after it. U+FE0E and U+FE0F hide no text:
    // they choose whether a symbol is shown as text or as a picture.
    return scalar == "\u{2800}"
      || properties.isDefaultIgnorableCodePoint && !(0xFE0E...0xFE0F).contains(scalar.value)
  }

  /// With escapes in Swift's notation: `\u{1b}`.
  package static func printable(_ text: String) -> String {
    // Most text is printable ASCII. The tables of Unicode take ten times as long.
    if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
    var escaping = Escaping()
    var result = ""
    for scalar in text.unicodeScalars {
      if escaping.escapes(scalar) {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
