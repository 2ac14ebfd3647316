import Glibc
import TagrouteClient

/// `inbox`: a line a tap.
struct InboxList {
  let inbox: InboxReader
  let console: Console

  /// - Parameters:
  ///   - state: only those in this state.
  ///   - limit: at most so many.
  ///   - before: only those that came before the one whose id begins so.
  /// - Throws: what keeps the agent from answering.
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
      lines.append("older ones: tagroute inbox --before \(last.shortID)")
    }
    try console.answer(taps.map(TapSummaryReport.init), lines)
  }

  /// The short id, the local time, the state, the app and what is on the tag.
  ///
  /// - Parameters:
  ///   - taps: the newest first.
  ///   - width: of the terminal, in cells; nil where nothing is to be cut.
  /// - Returns: a line a tap.
  static func lines(_ taps: [TapDescription], width: Int?) -> [String] {
    let rows = taps.map { tap in
      [tap.shortID, LocalTime.minute(tap.time), tap.state, tap.app, tap.title].map(Console.printable)
    }
    guard let columns = rows.first?.count else { return [] }
    var widths = (0..<columns).map { column in rows.map { TerminalText.cells(of: $0[column]) }.max() ?? 0 }
    // The app is known by its beginning; what is on the tag has the most to say.
    if let width { widths[columns - 2] = min(widths[columns - 2], max(width / 4, 8)) }
    return rows.map { row in
      let cells = zip(row, widths).dropLast().map { text, width in TerminalText.padded(text, to: width) }
      let line = (cells + row.suffix(1)).joined(separator: "  ")
      return width.map { TerminalText.cut(line, to: $0) } ?? line
    }
  }
}

extension TapDescription {
  /// What is enough to tell a tap from the others in nearly every inbox.
  var shortID: String { String(id.prefix(8)) }

  /// The desktop id without its ending; `-` where there is no app.
  var app: String {
    guard let handler else { return "-" }
    return handler.hasSuffix(".desktop") ? String(handler.dropLast(".desktop".count)) : handler
  }
}

/// What `inbox --json` prints of a tap; its keys are what scripts depend on.
struct TapSummaryReport: Encodable {
  let id: String
  let time: UInt64
  let uri: String
  let title: String
  let state: String
  @OrNull var handler: String?

  init(_ tap: TapDescription) {
    id = tap.id
    time = tap.time
    uri = tap.uri
    title = tap.title
    state = tap.state
    handler = tap.handler
  }
}
