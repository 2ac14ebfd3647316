import Glibc

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
