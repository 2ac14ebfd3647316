import Glibc

/// Times as text.
package enum UTCTime {
  /// 9999-12-31T23:59:59.999Z. RFC 3339 has no later year.
  private static let latest: UInt64 = 253_402_300_799_999_000

  /// RFC 3339 in UTC with milliseconds, such as `2026-03-01T12:00:00.250Z`. The argument counts from 1970-01-01 00:00
  /// UTC.
  package static func text(_ microseconds: UInt64) -> String {
    let milliseconds = min(microseconds, latest) / 1000
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func padded(_ number: Int32, _ count: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
    let date = [padded(parts.tm_year + 1900, 4), padded(parts.tm_mon + 1, 2), padded(parts.tm_mday, 2)]
    let time = [padded(parts.tm_hour, 2), padded(parts.tm_min, 2), padded(parts.tm_sec, 2)]
    return date.joined(separator: "-") + "T" + time.joined(separator: ":") + "."
      + padded(Int32(milliseconds % 1000), 3) + "Z"
  }
}
