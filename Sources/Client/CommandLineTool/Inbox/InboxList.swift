import Glibc
import TagrouteClient

/// `inbox`: lists taps, one per line.
struct InboxList {
  let inbox: InboxReader
  let console: Console

  /// `before` is the beginning of an id: only taps that came before that tap are listed.
  func print(state: String?, limit: Int, before: String?) async throws(Failure) {
    var start: String?
    if let before { start = try await inbox.id(of: before) }
    var taps: [TapDescription] = []
    try await inbox.pages(state: state, limit: limit, before: start) { page in taps += page }
    let width = Terminal.width(of: STDOUT_FILENO)
    var lines = Self.lines(taps, width: width)
    if taps.isEmpty {
      lines = ["no tap\(state.map { " is \($0)" } ?? "")\(before.map { ", before \($0)" } ?? "")"]
    } else if width != nil, taps.count == limit, let last = taps.last {
      lines.append("older taps: tagroute inbox --before \(last.shortID)")
    }
    try console.answer(taps, lines)
  }

  /// The short id, the local time, the state, the app and the content of the tag. Without a `width` in cells, lines are
  /// not cut.
  static func lines(_ taps: [TapDescription], width: Int?) -> [String] {
    let rows = taps.map { tap in
      [tap.shortID, LocalTime.minute(tap.time), tap.state, tap.app, tap.title].map(Console.printable)
    }
    guard let columns = rows.first?.count else { return [] }
    var widths = (0..<columns).map { column in rows.map { TerminalText.cells(of: $0[column]) }.max() ?? 0 }
    // Cut the app rather than the content: the beginning is enough to recognise an app.
    if let width { widths[columns - 2] = min(widths[columns - 2], max(width / 4, 8)) }
    return rows.map { row in
      let cells = zip(row, widths).dropLast().map { text, width in TerminalText.padded(text, to: width) }
      let line = (cells + row.suffix(1)).joined(separator: "  ")
      return width.map { TerminalText.cut(line, to: $0) } ?? line
    }
  }
}

extension TapDescription {
  /// The beginning of the id, which is unique in nearly every inbox.
  var shortID: String { String(id.prefix(8)) }

  /// The desktop id without `.desktop`; `-` if there is no app.
  var app: String {
    guard let handler else { return "-" }
    return handler.hasSuffix(".desktop") ? String(handler.dropLast(".desktop".count)) : handler
  }
}
