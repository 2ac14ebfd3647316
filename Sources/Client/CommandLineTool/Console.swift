import EventLoop
import Glibc
import Journal
import Names
import TagrouteClient

/// The output of a command: lines for a person, or JSON for a script.
package struct Console: Sendable {
  package let json: Bool

  package init(json: Bool) { self.json = json }

  /// Prints a command's result: the value as JSON, or the lines. A terminal shows the verdict at the beginning of a
  /// line in its colour.
  package func answer(
    _ value: @autoclosure () -> some Encodable, _ lines: @autoclosure () -> [String] = [],
    verdicts: [(String, Colour)] = []
  ) throws(Failure) {
    if json { return try object(value()) }
    let colours = Colour.isShown(isTerminal: isatty(STDOUT_FILENO) == 1, ProcessEnvironment.current) ? verdicts : []
    try Console.write(lines().map { Colour.painted(Console.printable($0), colours) + "\n" }.joined())
  }

  /// Prints a line on standard output. Line breaks and control characters in it are printed as escapes.
  package func line(_ text: String) throws(Failure) { try lines([text]) }

  /// Prints lines in one write.
  func lines(_ texts: [String]) throws(Failure) { try Console.write(Console.text(texts)) }

  /// Prints a value as JSON, on several lines or on one.
  func object(_ value: some Encodable, onOneLine: Bool = false) throws(Failure) {
    try Console.write(try text(value, onOneLine: onOneLine))
  }

  /// The lines as `lines` prints them.
  static func text(_ lines: [String]) -> String { lines.map { printable($0) + "\n" }.joined() }

  /// The value as `object` prints it.
  func text(_ value: some Encodable, onOneLine: Bool) throws(Failure) -> String {
    do {
      let bytes = try JSONTree(encoding: value).bytes(indented: !onOneLine)
      return Console.escaped(json: String(decoding: bytes, as: UTF8.self)) + "\n"
    } catch {
      throw Failure(message: "cannot write the output as JSON: \(error)", exitCode: 1)
    }
  }

  /// Prints a failure on standard error, as `tagroute: what: why`.
  package static func report(_ failure: Failure) {
    tell("tagroute: \(printable(failure.message))\n")
  }

  /// Prints a warning on standard error, which begins with a place.
  static func warn(_ text: String) { tell("\(printable(text))\n") }

  /// Writes on standard error. A failure to do so is ignored, because it could not be reported.
  static func tell(_ text: String) { try? write(text, to: errors) }

  /// `text` with escapes for control characters, for invisible ones, and for those that change how others look.
  static func printable(_ text: String) -> String { Escaping.printable(text) }

  /// The same JSON value with more characters escaped: those that control a terminal or change how others look. JSON
  /// requires this only below U+0020 (RFC 8259, section 7).
  ///
  /// All characters beyond ASCII are inside strings, so no parsing is needed.
  static func escaped(json text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x7F }) { return text }
    var result = String.UnicodeScalarView()
    var escaping = Escaping()
    for scalar in text.unicodeScalars {
      let isEscaped = escaping.escapes(scalar) || scalar.properties.generalCategory == .spaceSeparator
      guard scalar.value > 0x7E, isEscaped else {
        result.append(scalar)
        continue
      }
      for unit in String(scalar).utf16 {
        result.append(contentsOf: "\\u\(Hexadecimal.text(unit).lowercased())".unicodeScalars)
      }
    }
    return String(result)
  }

  /// Writes text that needs no further escapes. Fails if it is not written in full, because a script must not take a
  /// part for the whole.
  static func write(_ text: String, to descriptor: FileDescriptor = output) throws(Failure) {
    do throws(SystemError) {
      try descriptor.write(Array(text.utf8))
    } catch {
      throw Failure(
        message: "cannot write the output: \(String(cString: strerror(error.number)))",
        exitCode: Names.ExitCode.outputFailed)
    }
  }

  /// Never released, so never closed.
  static let output = FileDescriptor(owning: STDOUT_FILENO)
  private static let errors = FileDescriptor(owning: STDERR_FILENO)
}

/// A JSON object as a literal. A value that is nil is null, because scripts look for the key.
struct JSON: Encodable, Sendable, ExpressibleByDictionaryLiteral {
  var members: [(String, any Encodable & Sendable)]

  init(dictionaryLiteral members: (String, any Encodable & Sendable)...) { self.members = members }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONKey.self)
    for (key, value) in members { try container.encode(value, forKey: JSONKey(stringValue: key)) }
  }
}

/// The colour of a verdict on a terminal: a parameter of SGR (ECMA-48, 8.3.117).
package enum Colour: Int, Sendable {
  case red = 31
  case green = 32
  case yellow = 33

  /// Whether output has colours. A `NO_COLOR` that is not empty switches them off (https://no-color.org).
  static func isShown(isTerminal: Bool, _ environment: [String: String]) -> Bool {
    isTerminal && environment["NO_COLOR", default: ""].isEmpty
      && !["", "dumb"].contains(environment["TERM", default: ""])
  }

  /// The line, which is escaped already, with the longest verdict at its beginning in colour.
  static func painted(_ line: String, _ verdicts: [(String, Colour)]) -> String {
    let found = verdicts.map { (Console.printable($0), $1) }.filter { line.hasPrefix($0.0) }
    guard let (verdict, colour) = found.max(by: { $0.0.count < $1.0.count }) else { return line }
    return "\u{1B}[\(colour.rawValue)m\(verdict)\u{1B}[m\(line.dropFirst(verdict.count))"
  }
}

enum Terminal {
  /// The width in cells; nil if `descriptor` is not a terminal, or its width is unknown.
  static func width(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }
}

/// The width of text on a terminal. The text must be escaped already.
enum TerminalText {
  static func cells(of text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + cells(of: $1) } }

  /// The text with spaces appended, or cut.
  static func padded(_ text: String, to width: Int) -> String {
    let cut = cut(text, to: width)
    return cut + String(repeating: " ", count: max(width - cells(of: cut), 0))
  }

  /// The text with at most this many cells. If it is cut, it ends in `…`.
  static func cut(_ text: String, to width: Int) -> String {
    guard cells(of: text) > width else { return text }
    var result = String.UnicodeScalarView()
    var used = 1
    for scalar in text.unicodeScalars {
      used += cells(of: scalar)
      guard used <= width else { break }
      result.append(scalar)
    }
    return width > 0 ? String(result) + "…" : ""
  }

  /// Two for wide and fullwidth characters (Unicode Standard Annex #11) and emoji, none for combining marks.
  private static func cells(of scalar: Unicode.Scalar) -> Int {
    if (0x20...0x7E).contains(scalar.value) { return 1 }
    // Turns the preceding symbol into an emoji, which is wide.
    if scalar == "\u{FE0F}" { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .control, .format: return 0
    default: break
    }
    guard scalar.value >= 0x1100 else { return 1 }
    return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// Whole blocks; their gaps are unassigned.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D8F, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF,
    0x20000...0x3FFFD,
  ]
}

/// Times in the user's time zone.
enum LocalTime {
  /// Date, hours and minutes of a time in microseconds since 1970-01-01 00:00 UTC.
  static func minute(_ time: UInt64) -> String { text(time, "%Y-%m-%d %H:%M") }

  /// The same, with seconds.
  static func second(_ time: UInt64) -> String { text(time, "%Y-%m-%d %H:%M:%S") }

  private static func text(_ time: UInt64, _ format: String) -> String {
    var seconds = time_t(clamping: time / 1_000_000)
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return "-" }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = buffer.withUnsafeMutableBytes {
      strftime($0.assumingMemoryBound(to: CChar.self).baseAddress, $0.count, format, &parts)
    }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }
}

/// Reads a file or standard input on a separate thread, because the read may block.
enum BlockingRead {
  /// The bytes of a file, or of standard input for `-`; `limit` + 1 bytes if there are more.
  static func file(_ path: String, limit: Int) async throws(Failure) -> [UInt8] {
    let result: Result<[UInt8], SystemError>
    do throws(SystemError) {
      result = try await DedicatedThread.run { read(path, limit) }
      return try result.get()
    } catch {
      throw Failure(message: "\(path): \(error)", exitCode: 1)
    }
  }

  /// A line from standard input, without its end; nil at the end of the input.
  static func line() async -> String? {
    (try? await DedicatedThread.run { readLine() }) ?? nil
  }

  private static func read(_ path: String, _ limit: Int) -> Result<[UInt8], SystemError> {
    let number = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return .failure(SystemError("open it")) }
    return Result { () throws(SystemError) in try FileDescriptor(owning: number).readAll(atMost: limit + 1) }
  }
}
