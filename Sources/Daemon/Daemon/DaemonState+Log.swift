import Journal

/// Log lines about readers and users, each kind within a limit.
extension DaemonState {
  /// Logs a line about a reader's process and its device. `text` gets the reader's name.
  mutating func note(
    _ level: LogLevel, of id: Int, at now: TapQueue.Instant, _ text: (String) -> String
  ) -> [Action] {
    write(level, of: id, by: \.processLines, at: now, text)
  }

  /// Logs a change of a reader's state. The limit is separate, so that a verbose process cannot suppress these lines.
  mutating func noteChange(
    _ level: LogLevel, of id: Int, at now: TapQueue.Instant, _ text: (String) -> String
  ) -> [Action] {
    write(level, of: id, by: \.changeLines, at: now, text)
  }

  /// Logs a change of a reader that users can cause.
  mutating func noteVerdict(of id: Int, at now: TapQueue.Instant, _ text: (String) -> String) -> [Action] {
    write(.info, of: id, by: \.verdictLines, at: now, text)
  }

  private mutating func write(
    _ level: LogLevel, of id: Int, by budget: WritableKeyPath<ReaderStatus, LineBudget>, at now: TapQueue.Instant,
    _ text: (String) -> String
  ) -> [Action] {
    // A line below the log threshold must not use up the limit.
    guard level <= policy.logThreshold else { return [] }
    let name = name(of: id)
    let verdict = readers[id]?[keyPath: budget].line(at: now) ?? searchLines.line(at: now)
    return Self.lines(level, text(name), name, verdict)
  }

  func name(of id: Int) -> String {
    readers[id].map { "reader \($0.label)" } ?? "the reader being searched for"
  }

  mutating func noteTag(_ level: LogLevel, _ text: String, of id: Int, at now: TapQueue.Instant) -> [Action] {
    guard level <= policy.logThreshold else { return [] }
    guard let name = readers[id]?.label, let verdict = readers[id]?.tagLines.line(at: now) else { return [] }
    return Self.lines(level, text, "reader \(name)", verdict)
  }

  /// Logs a line that a user has caused.
  mutating func note(_ level: LogLevel, ofUser uid: UInt32, at now: TapQueue.Instant, _ text: String) -> [Action] {
    guard level <= policy.logThreshold else { return [] }
    return Self.lines(level, text, "user \(uid)", userLines.line(of: uid, at: now))
  }

  private static func lines(
    _ level: LogLevel, _ text: String, _ name: String, _ verdict: LineBudget.Verdict
  ) -> [Action] {
    switch verdict {
    case .write: [.log(level, text)]
    case .announce: [.log(.warning, "\(name): too many lines; the rest of this minute is omitted")]
    case .leaveOut: []
    }
  }
}
