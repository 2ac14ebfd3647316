import CGIO
import EventLoop
import Glibc
import Names
package import Routing
package import Settings

/// Adds rules to one of the user's files of rules, and removes them.
///
/// The file is replaced as a whole, readable and writable by its user only. Other rules and comments stay. A link is
/// not followed, and a file that another user owns or can change is not written. Each result is read back before it
/// replaces the file: it has the wanted rule, and all others. Two writers wait for each other. All functions block.
package struct RuleWriter: Sendable, Hashable {
  /// The file with the rules that “Always open at once” has written.
  package static let always = "always.conf"
  /// The file with the rules of `tagroute rules add`. It is read before the other one.
  package static let added = "added.conf"

  private let files: RuleFiles
  private let name: String

  /// How often the writer tries to lock the directory, 20 milliseconds apart.
  var attempts = 100

  /// In the user's directory.
  package init(_ files: RuleFiles = RuleFiles(), file name: String) {
    self.files = files
    self.name = name
  }

  /// Nil if there is no home.
  package var path: String? { files.user.map { "\($0)/\(name)" } }

  /// At the end of the file, or before a rule of the file.
  ///
  /// Throws if a rule of the user has this name, or if there are ``RuleSet/maximumRules`` rules. Also throws if a
  /// reader would not find the rule as it is meant.
  @discardableResult
  package func add(_ draft: RuleDraft, before next: TapRule? = nil) throws(KeyFileError) -> TapRule {
    guard let rule = try change(before: next, { _ in (draft, []) }) else {
      throw mistake("was not changed", "try again")
    }
    return rule
  }

  /// By its name and its effect. Returns false if the file has no such rule.
  package func remove(_ rule: TapRule) throws(KeyFileError) -> Bool {
    var isFound = false
    _ = try change { present in
      let same = present.filter {
        $0.name == rule.name && $0.conditions == rule.conditions && $0.action == rule.action && $0.asks == rule.asks
      }
      isFound = !same.isEmpty
      return (nil, same)
    }
    return isFound
  }

  /// Removes rules and adds one, as `plan` decides from the present rules of the file. Returns the added rule. If the
  /// plan does neither, the file is not touched. The new rule is the last one, or is before `next`.
  @discardableResult
  func change(
    before next: TapRule? = nil, _ plan: ([TapRule]) -> (draft: RuleDraft?, removed: [TapRule])
  ) throws(KeyFileError) -> TapRule? {
    guard let path, let directory = files.user else {
      throw KeyFileError(file: name, line: nil, problem: "there is no home directory", remedy: "set HOME")
    }
    let lock = try lockedDirectory(directory)
    defer { withExtendedLifetime(lock) {} }
    let bytes = try contents(of: path)
    let present = RuleFile(bytes, file: path, origin: .user)
    // An unreadable line may belong to any rule. A rule that cannot be read back is not added.
    if let whole = present.problems.first(where: { $0.line == nil }) { throw whole }
    let (draft, removed) = plan(present.rules)
    guard draft != nil || !removed.isEmpty else { return nil }
    var text = RuleText(bytes)
    for rule in removed.sorted(by: { $0.line > $1.line }) { text.removeGroup(at: rule.line) }
    if let draft {
      try check(draft, removing: removed)
      if let next { text.insert(draft.text, aboveGroupAt: next.line) } else { text.append(draft.text) }
    }
    let result = text.bytes
    let written = RuleFile(result, file: path, origin: .user)
    let others = present.rules.filter { !removed.contains($0) }
    let index = next.flatMap { next in others.firstIndex { $0 == next } } ?? others.count
    var kept = written.rules
    let added = draft.flatMap { draft in
      guard kept.indices.contains(index), kept[index].name == draft.name, draft.hasSameEffect(as: kept[index]) else {
        return nil as TapRule?
      }
      return kept.remove(at: index)
    }
    guard (added != nil) == (draft != nil), kept.count == others.count,
      zip(others, kept).allSatisfy({ $0.name == $1.name && $0.conditions == $1.conditions })
    else {
      throw written.problems.first { !present.problems.contains($0) }
        ?? mistake("cannot hold this rule", "use a plain name and plain arguments")
    }
    do throws(SystemError) { try FileDescriptor.replace(path, with: result, mode: 0o600) } catch {
      throw mistake("cannot be written (\(error))", "make its directory writable")
    }
    return added
  }

  private func check(_ draft: RuleDraft, removing removed: [TapRule]) throws(KeyFileError) {
    let rules = files.read().rules.filter { !removed.contains($0) }
    guard rules.count < RuleSet.maximumRules else {
      throw mistake("there are \(RuleSet.maximumRules) rules already", "remove one: tagroute rules remove NAME")
    }
    if let other = rules.first(where: { $0.origin == .user && $0.name == draft.name }) {
      throw KeyFileError(
        file: other.file, line: other.line, problem: "there is a rule with this name already",
        remedy: "choose another name, or remove that rule")
    }
  }

  /// Empty if the file does not exist.
  private func contents(of path: String) throws(KeyFileError) -> [UInt8] {
    var information = stat()
    guard lstat(path, &information) == 0 else {
      guard errno == ENOENT else { throw mistake("cannot be read", "make it readable or remove it") }
      return []
    }
    guard information.st_mode & S_IFMT != S_IFLNK else {
      throw mistake("is a link, which is not followed to write", "change that file, or put it in the link's place")
    }
    let read: (bytes: [UInt8], attributes: FileContents.Attributes)?
    do throws(FileContents.Failure) {
      read = try FileContents.readWithAttributes(path, upTo: RuleFile.maximumSize, followingLinks: false)
    } catch {
      throw mistake("cannot be read (\(error))", "make it readable or remove it")
    }
    guard let read else { return [] }
    if let objection = RuleFiles.objection(to: read.attributes, path, .user) { throw objection }
    guard read.attributes.owner == getuid() else { throw mistake("belongs to root", "change it as root") }
    return read.bytes
  }

  /// Creates the directory if it is missing. Keeps other writers out until the descriptor is closed.
  private func lockedDirectory(_ path: String) throws(KeyFileError) -> FileDescriptor {
    g_mkdir_with_parents(path, 0o700)
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      let problem = SystemError("open").number == ENOTDIR ? "is a link, or not a directory" : "cannot be opened"
      throw KeyFileError(file: path, line: nil, problem: problem, remedy: "make it a directory of yours")
    }
    let directory = FileDescriptor(owning: descriptor)
    if let attributes = FileContents.attributes(ofDirectory: path),
      let objection = RuleFiles.objection(to: attributes, path, .user)
    {
      throw objection
    }
    for _ in 0..<attempts {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return directory }
      guard errno == EWOULDBLOCK || errno == EINTR else { return directory }
      usleep(20_000)
    }
    throw KeyFileError(file: path, line: nil, problem: "is being changed by another program", remedy: "try again")
  }

  private func mistake(_ problem: String, _ remedy: String) -> KeyFileError {
    KeyFileError(file: path ?? name, line: nil, problem: problem, remedy: remedy)
  }
}

/// A rule that is not in a file yet.
package struct RuleDraft: Sendable, Hashable {
  /// In the header of its group.
  package var name: String
  package var conditions: [TapRule.Condition]
  package var action: TapRule.Action
  /// Whether the user is asked first. Without meaning for ``TapRule/Action/show`` and ``TapRule/Action/ignore``.
  package var asks: Bool
  /// The program, and its arguments, that runs when the tag is removed. Empty if none does.
  package var onRemove: [String]
  /// Nil for the usual sound.
  package var sound: String?

  /// ``RuleWriter`` checks all parts.
  package init(
    name: String, conditions: [TapRule.Condition], action: TapRule.Action, asks: Bool = true, onRemove: [String] = [],
    sound: String? = nil
  ) {
    self.name = name
    self.conditions = conditions
    self.action = action
    self.asks = asks
    self.onRemove = onRemove
    self.sound = sound
  }

  /// Whether the rule says the same, under any name.
  func hasSameEffect(as rule: TapRule) -> Bool {
    rule.conditions == conditions && rule.action == action && rule.asks == asks && rule.onRemove == onRemove
      && rule.sound == sound
  }

  /// In the syntax of key files, with a line break at its end.
  var text: String {
    var lines = ["[Rule \(name)]"] + conditions.map { "\($0.key)=\(Self.value(of: $0))" }
    switch action {
    case .open(let id): lines.append("Open=\(AppID.text(id))")
    case .openDefault: lines.append("Open=default")
    case .run(let arguments): lines.append("Run=\(Self.list(arguments))")
    case .show: lines.append("Show=yes")
    case .ignore: lines.append("Ignore=yes")
    }
    if !asks { lines.append("Ask=no") }
    if !onRemove.isEmpty { lines.append("OnRemove=\(Self.list(onRemove))") }
    if let sound { lines.append("Sound=\(sound)") }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The mistake that a reader of the file would find in the rule, with the key of its line. The key is nil for the
  /// header, and for a rule that would be read with another meaning. Nil if the rule is read as it is meant.
  package var mistake: (key: String?, error: KeyFileError)? {
    let text = text
    let read = RuleFile(Array(text.utf8), file: RuleWriter.added, origin: .user)
    if let error = read.problems.first {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let line = error.line.flatMap { lines.dropFirst(max($0 - 1, 0)).first } ?? ""
      return (line.hasPrefix("[") ? nil : line.split(separator: "=").first.map(String.init), error)
    }
    guard read.rules.count == 1, let rule = read.rules.first, rule.name == name, hasSameEffect(as: rule) else {
      let error = KeyFileError(
        file: RuleWriter.added, line: nil, problem: "cannot hold this rule",
        remedy: "use a plain name and plain arguments")
      return (nil, error)
    }
    return nil
  }

  private static func value(of condition: TapRule.Condition) -> String {
    switch condition {
    case .link, .text, .reader: escaped(condition.value)
    // Read without escapes.
    case .uid, .mimeType, .externalType, .message, .technology, .handler: condition.value
    }
  }

  /// With the escapes of key files (Desktop Entry Specification 1.5, "Possible value types").
  private static func list(_ texts: [String]) -> String { texts.map { escaped($0, inList: true) + ";" }.joined() }

  private static func escaped(_ text: String, inList: Bool = false) -> String {
    var result = ""
    // Scalars, because a combining mark forms another character with a semicolon.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += #"\\"#
      case ";" where inList: result += #"\;"#
      case "\n": result += #"\n"#
      case "\r": result += #"\r"#
      case "\t": result += #"\t"#
      case " ": result += #"\s"#
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// Changed by whole groups. Comments and other rules keep every byte.
struct RuleText {
  private var lines: [ArraySlice<UInt8>]

  init(_ bytes: [UInt8]) {
    lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  }

  var bytes: [UInt8] { Array(lines.joined(separator: [UInt8(ascii: "\n")])) }

  /// Its header is in this line, from 1. Comments behind its last entry stay: they may belong to the next group.
  mutating func removeGroup(at line: Int) {
    let header = line - 1
    guard lines.indices.contains(header), Self.kind(of: lines[header]) == .header else { return }
    let next = lines[(header + 1)...].firstIndex { Self.kind(of: $0) == .header } ?? lines.endIndex
    let last = lines[header..<next].lastIndex { [.header, .entry].contains(Self.kind(of: $0)) } ?? header
    lines.removeSubrange(header...last)
    // Of the blank lines above and below, one is enough.
    guard header > 0, Self.kind(of: lines[header - 1]) == .blank else { return }
    if header >= lines.count || Self.kind(of: lines[header]) == .blank { lines.remove(at: header - 1) }
  }

  /// Above the comments of the group with its header in this line, from 1, and with a blank line below. `text` ends with
  /// a line break.
  mutating func insert(_ text: String, aboveGroupAt line: Int) {
    var index = min(max(line - 1, 0), lines.count)
    while index > 0, Self.kind(of: lines[index - 1]) == .comment { index -= 1 }
    lines.insert(contentsOf: RuleText(Array(text.utf8)).lines, at: index)
  }

  /// Below a blank line. `text` ends with a line break.
  mutating func append(_ text: String) {
    var bytes = bytes
    if let last = bytes.last {
      bytes += Array((last == UInt8(ascii: "\n") ? "\n" : "\n\n").utf8)
    }
    self = RuleText(bytes + Array(text.utf8))
  }

  private enum Kind { case blank, comment, header, entry }

  private static func kind(of line: ArraySlice<UInt8>) -> Kind {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    switch line.first(where: { !isSpace($0) }) {
    case nil: return .blank
    case UInt8(ascii: "#"): return .comment
    case UInt8(ascii: "["): return .header
    default: return .entry
    }
  }
}
