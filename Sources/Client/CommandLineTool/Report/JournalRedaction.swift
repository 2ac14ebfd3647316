/// The lines of the journal that may go into a report.
///
/// An app that the agent starts has the agent's standard output, so its lines have the agent's identifier. With `--apdu`,
/// pcscd logs the bytes of cards.
enum JournalRedaction {
  /// The kernel's names of the processes, which have at most 15 characters, as matches for journalctl(1).
  static let matches = ["tagrouted", "tagroute-agent", "tagroute-reader", "tagroute-mqtt", "pcscd"]
    .map { "_COMM=\($0)" }

  /// `journal` is the output of `journalctl --output=short-iso --no-hostname`.
  static func redact(_ journal: String) -> String {
    journal.split(separator: "\n").filter(isKept).map { "\($0)\n" }.joined()
  }

  /// The identifier follows the time: `2026-11-29T15:49:44+0000 pcscd[71]: text`. A further line of a message has none.
  private static func isKept(_ line: Substring) -> Bool {
    guard let match = line.prefixMatch(of: #/[0-9][^ ]* ([^ \[]+)\[[0-9]+\]: /#) else { return false }
    switch match.output.1 {
    case "tagrouted", "tagroute-agent", "tagroute-reader", "tagroute-reader-pcsc", "tagroute-mqtt": return true
    case "pcscd":
      // Each line begins with the microseconds since the line before.
      let text = line[match.range.upperBound...].trimmingPrefix(#/[0-9]{8} /#)
      return !text.contains("APDU") && !text.contains("SW:")
        && !text.contains(#/(?:^|[^0-9A-Za-z])(?:[0-9A-Fa-f]{2}[ :-]?){4}/#)
    default: return false
    }
  }
}
