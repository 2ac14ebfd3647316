import Names
package import TagrouteClient
import UniversalLinks

/// `tagroute doctor --watch`: the lines for a person who plugs a reader in and holds a tag to it. Pure.
///
/// An example, with a line for each step:
///
///     waiting for a reader: plug it in
///     reader: ACS ACR122U PICC Interface 00 00, recognised as ACS ACR122U, scanning
///     hold a tag to it
///     tag read: Type 2 tag, link https://example.com → Menu
///     ready
package struct DoctorWatch {
  package enum Event: Sendable {
    case examined(Examination)
    /// A tag was held to the reader after the watch began. `examined` comes before it.
    case tapped(Tap)
    /// Ctrl-C.
    case interrupted
  }

  package enum State: Hashable, Sendable {
    /// No tag was read yet. Can transition to: `.ended`.
    case watching
    /// The last line is printed.
    case ended(exitCode: Int32)
  }

  /// What a person may see of a tap: the content of the tag may be private, and the lines may end up in a report.
  package struct Tap: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
      /// The link's scheme and domain.
      case link(String)
      /// A message without a link that Tagroute opens.
      case message
      case nothing
      /// The reason.
      case unreadable(String)
    }

    package let kind: String
    package let content: Content
    /// The app or the rule that gets it; nil if there is none.
    package let receiver: String?

    /// `name` returns an app's name for people.
    package init(_ tap: TapDescription, name: (_ desktopID: String) -> String?) {
      kind = Self.kind(tap.technology)
      content =
        if tap.stateReasonCode == "damaged" {
          .unreadable(tap.stateReason)
        } else if let uri = try? URI(tap.uri) {
          .link(uri.isWeb ? "\(uri.scheme)://\(uri.host?.description ?? "")" : "\(uri.scheme):")
        } else {
          tap.message?.isEmpty == false ? .message : .nothing
        }
      receiver = tap.handler.map { name($0) ?? AppID.text($0) } ?? tap.rule.map { "the rule \($0)" }
    }

    private static func kind(_ technology: String) -> String {
      switch TagType(rawValue: technology) {
      case .type1: "Type 1 tag"
      case .type2: "Type 2 tag"
      case .type3: "Type 3 tag"
      case .type4A, .type4B: "Type 4 tag, card or phone"
      case .type5: "Type 5 tag"
      case .mifareClassic: "MIFARE Classic card"
      case .peer, nil: technology.isEmpty ? "tag" : technology
      }
    }

    package var line: String {
      let goal = receiver.map { " → \($0)" } ?? ""
      return switch content {
      case .link(let origin): "tag read: \(kind), link \(origin)\(goal)"
      case .message: "tag read: \(kind), a message without a link\(goal)"
      case .nothing: "tag read: \(kind), no message on it\(goal)"
      case .unreadable(let reason): "tag not read: \(kind), \(reason); hold it to the reader again"
      }
    }
  }

  package private(set) var state = State.watching
  private var scene: Scene?
  /// The problems that were printed and are still there.
  private var reported: [Finding] = []
  /// The readers that were printed and are still there, by object path.
  private var announced: [(path: String, title: String)] = []
  /// The line about a missing reader that was printed last; nil if a reader came since then.
  private var waitingLine: String?
  /// Whether the line that asks for a tag was printed since scanning last stopped.
  private var hasAskedForTag = false

  package init() {}

  /// Whether something has to be fixed. No signal may report that it was.
  package var needsAnotherLook: Bool { scene?.firstWrong != nil }

  /// Returns the lines to print.
  package mutating func handle(_ event: Event) -> [String] {
    guard state == .watching else { return [] }
    switch event {
    case .examined(let seen):
      let scene = Scene(seen)
      self.scene = scene
      if let obstacle = scene.obstacle { return end(with: obstacle, scene) }
      return problems(scene) + readers(scene)
    case .tapped(let tap):
      if case .unreadable = tap.content { return [tap.line] }
      guard let problem = scene?.firstWrong else {
        state = .ended(exitCode: 0)
        return [tap.line, Self.ready]
      }
      state = .ended(exitCode: Names.ExitCode.failure)
      return [tap.line, "one thing is left to do:"] + Self.lines(of: problem)
    case .interrupted:
      guard let scene else {
        state = .ended(exitCode: Names.ExitCode.failure)
        return []
      }
      state = .ended(exitCode: scene.exitCode)
      if let problem = scene.firstWrong { return Self.lines(of: problem) }
      if let line = scene.waitingLine { return [line] }
      if scene.isScanning { return ["no tag was read yet"] }
      return scene.problems.first { $0.subject == .scanning }.map(Self.lines) ?? ["the readers do not scan yet"]
    }
  }

  package static let ready = "ready"

  private static func lines(of finding: Finding) -> [String] { finding.lines.map(\.description) }

  private mutating func end(with obstacle: Finding, _ scene: Scene) -> [String] {
    state = .ended(exitCode: scene.exitCode)
    return Self.lines(of: obstacle)
  }

  /// The new problems, and those that were fixed.
  private mutating func problems(_ scene: Scene) -> [String] {
    let gone = Set(reported.filter { !scene.problems.contains($0) }.map(\.subject))
    let left = Set(scene.problems.map(\.subject))
    // The other lines say that a reader works and scans.
    let fixed = gone.subtracting(left).subtracting([.reader, .scanning])
    let right = scene.findings.filter { $0.verdict == .right && fixed.contains($0.subject) }
    let new = scene.problems.filter { !reported.contains($0) }
    reported = scene.problems
    return (right + new).flatMap(Self.lines)
  }

  private mutating func readers(_ scene: Scene) -> [String] {
    guard scene.hasDaemon else {
      (announced, waitingLine, hasAskedForTag) = ([], nil, false)
      return []
    }
    var lines: [String] = []
    for reader in announced where !scene.readers.contains(where: { $0.path == reader.path }) {
      lines.append("reader gone: \(reader.title)")
    }
    announced.removeAll { reader in !scene.readers.contains { $0.path == reader.path } }
    if let line = scene.waitingLine, line != waitingLine { lines.append(line) }
    waitingLine = scene.waitingLine
    // A reader that is about to scan gets its line when it does.
    for reader in scene.readers where scene.isScanning || scene.isSuspended {
      guard !announced.contains(where: { $0.path == reader.path }) else { continue }
      announced.append((reader.path, reader.title))
      lines.append("reader: \(reader.text)")
    }
    if scene.isScanning, !hasAskedForTag {
      lines.append(scene.readers.count > 1 ? "hold a tag to one of them" : "hold a tag to it")
      hasAskedForTag = true
    } else if scene.isSuspended {
      hasAskedForTag = false
    }
    return lines
  }
}
