import Names
package import Routing
package import Settings
import UniversalLinks

/// A file of rules for taps: `[Rule NAME]` groups.
///
/// A rule with a mistake is left out, and so is a rule with a line that is not understood: without that line, it might
/// match tags that it should not. The other rules of the file hold.
package struct RuleFile: Sendable {
  /// In bytes.
  package static let maximumSize = 64 << 10
  /// Further mistakes of a file are not reported, nor are those of further files.
  package static let maximumProblems = 100

  /// The valid ones, in their order.
  package private(set) var rules: [TapRule] = []
  /// In the order of their lines.
  package private(set) var problems: [KeyFileError] = []

  /// Errors show the path `file`.
  package init(_ bytes: [UInt8], file: String, origin: TapRule.Origin) {
    guard bytes.count <= Self.maximumSize else {
      problems = [
        KeyFileError(
          file: file, line: nil, problem: "is larger than \(Self.maximumSize >> 10) KiB, so none of its rules holds",
          remedy: "divide it into several files")
      ]
      return
    }
    var problems: [KeyFileError] = []
    let keyFile = SalvagedKeyFile.read(bytes, file, &problems)
    if problems.count > SalvagedKeyFile.mostNamed {
      problems[SalvagedKeyFile.mostNamed] = KeyFileError(
        file: file, line: nil,
        problem: "has more than \(SalvagedKeyFile.mostNamed) wrong lines, so none of its rules holds",
        remedy: "fix these lines")
    }
    // A mistake without a line may be in any rule.
    let isWhole = problems.allSatisfy { $0.line != nil }
    let layout = RuleFileLayout(bytes)
    if let keyFile, isWhole {
      let broken = Set(problems.compactMap { $0.line.flatMap(layout.header) })
      for group in keyFile.groups {
        do throws(KeyFileError) {
          guard let name = try Self.name(of: group, file: file) else { continue }
          if let repetition = layout.repetition(of: group) {
            throw KeyFileError(
              file: file, line: repetition.line, problem: repetition.problem, remedy: repetition.remedy)
          }
          // Its mistake is in the list already.
          guard !broken.contains(group.line) else { continue }
          var reader = RuleReader(keyFile, group)
          rules.append(try reader.rule(named: name, origin: origin))
        } catch {
          problems.append(error)
        }
      }
    }
    self.problems = Array(
      problems.sorted { ($0.line ?? 0, $0.problem) < ($1.line ?? 0, $1.problem) }.prefix(Self.maximumProblems))
  }

  /// Throws if the group is not a rule.
  private static func name(of group: KeyFile.Group, file: String) throws(KeyFileError) -> String? {
    func mistake(_ problem: String, _ remedy: String) -> KeyFileError {
      KeyFileError(file: file, line: group.line, problem: problem, remedy: remedy)
    }
    guard group.name.hasPrefix("Rule ") else {
      throw mistake("there is no group [\(group.name.prefix(40))]", "write [Rule NAME]")
    }
    let name = group.name.dropFirst("Rule ".count).drop { $0 == " " }
    guard !name.isEmpty, name.utf8.count <= 100, name.unicodeScalars.allSatisfy(isPrintable) else {
      throw mistake("the rule's name is empty, longer than 100 bytes or not printable", "write [Rule NAME]")
    }
    return String(name)
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    default: true
    }
  }
}

/// The lines of a file of rules: which group each belongs to, and which are repeated.
///
/// A key file merges groups of the same name, and of a repeated key only the last value counts. In a rule, either is a
/// mistake: a second `UID=` does not mean "or".
struct RuleFileLayout {
  /// A header or a key that occurs a second time.
  struct Repetition {
    let line: Int
    let problem: String
    let remedy: String
  }

  /// The lines of the headers, in ascending order.
  private var headers: [Int] = []
  /// The first repetition in the group with this header.
  private var repetitions: [Int: Repetition] = [:]

  init(_ bytes: [UInt8]) {
    var firstHeaders: [ArraySlice<UInt8>: Int] = [:]
    var keys: Set<ArraySlice<UInt8>> = []
    var first = 0
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let number = index + 1
      let text = Self.trimmed(line)
      if text.first == UInt8(ascii: "[") {
        headers.append(number)
        keys = []
        first = firstHeaders[text] ?? number
        if firstHeaders.updateValue(first, forKey: text) != nil {
          note(first, number, "the group of line \(first) is repeated", "give each rule a name of its own")
        }
      } else if text.first != UInt8(ascii: "#"), let equals = text.firstIndex(of: UInt8(ascii: "=")) {
        let key = Self.trimmed(text[..<equals])
        guard !keys.insert(key).inserted else { continue }
        let name = String(decoding: key.prefix(40), as: UTF8.self)
        note(first, number, "the key \(name) is repeated", "write a second rule")
      }
    }
  }

  /// The line of the header above this line, or of this line; nil above the first one. Of a repeated header, it is the
  /// line of the repetition.
  func header(ofLine line: Int) -> Int? { headers.last { $0 <= line } }

  func repetition(of group: KeyFile.Group) -> Repetition? { repetitions[group.line] }

  private mutating func note(_ header: Int, _ line: Int, _ problem: String, _ remedy: String) {
    if repetitions[header] == nil { repetitions[header] = Repetition(line: line, problem: problem, remedy: remedy) }
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    var line = line.drop(while: isSpace)
    while let last = line.last, isSpace(last) { line.removeLast() }
    return line
  }
}

struct RuleReader {
  private static let schema = KeyFileSchema([
    "Rule": [
      "UID", "Link", "MimeType", "ExternalType", "Text", "Message", "Technology", "Reader", "Handler", "Open", "Run",
      "Show", "Ignore", "Ask", "OnRemove", "Sound",
    ]
  ])
  private static let maximumArguments = 64
  /// In bytes, of all arguments together, and of a text.
  private static let maximumText = 4096

  private let file: KeyFile
  private let group: KeyFile.Group
  private var conditions: [TapRule.Condition] = []
  private var actions: [(key: String, action: TapRule.Action)] = []
  private var onRemove: [String] = []
  private var sound: String?

  init(_ file: KeyFile, _ group: KeyFile.Group) {
    self.file = file
    self.group = group
  }

  /// Throws the first mistake.
  mutating func rule(named name: String, origin: TapRule.Origin) throws(KeyFileError) -> TapRule {
    try Self.schema.check(group, of: file, as: "Rule")
    for entry in group.entries { try read(entry) }
    guard !conditions.isEmpty else {
      throw mistake("the rule has no condition, so it would match every tag", "add UID= or another condition")
    }
    guard let action = actions.first else {
      throw mistake("the rule has no action", "add one of Open=, Run=, Show= and Ignore=")
    }
    guard actions.count == 1 else {
      throw mistake("the rule has the actions \(actions.map(\.key).joined(separator: ", "))", "keep one of them")
    }
    let asks = try file.boolean(group.name, "Ask")
    let meaningless: Set<String> =
      switch action.action {
      case .show: ["Ask", "OnRemove"]
      case .ignore: ["Ask", "OnRemove", "Sound"]
      case .open, .openDefault, .run: []
      }
    if let entry = group.entries.first(where: { meaningless.contains($0.key) }) {
      throw file.mistake(entry, "\(entry.key)= has no meaning with \(action.key)=", "remove it")
    }
    return TapRule(
      name: name, origin: origin, file: file.file, line: group.line, conditions: conditions, action: action.action,
      asks: asks ?? true, onRemove: onRemove, sound: sound)
  }

  private mutating func read(_ entry: KeyFile.Entry) throws(KeyFileError) {
    switch entry.key {
    case "UID": conditions.append(.uid(try uid(entry)))
    case "Link": conditions.append(.link(try link(entry)))
    case "MimeType": conditions.append(.mimeType(try mimeType(entry)))
    case "ExternalType": conditions.append(.externalType(try externalType(entry)))
    case "Text": conditions.append(.text(try text(entry)))
    case "Message": conditions.append(.message(try digest(entry)))
    case "Technology": conditions.append(.technology(try technology(entry)))
    case "Reader": conditions.append(.reader(try text(entry)))
    case "Handler": conditions.append(.handler(try desktopID(entry, "write an id such as org.example.Menu")))
    case "Open": actions.append(("Open", try open(entry)))
    case "Run": actions.append(("Run", .run(try arguments(entry))))
    case "Show": actions.append(("Show", try flagged(entry, .show)))
    case "OnRemove": onRemove = try arguments(entry)
    case "Sound": sound = try soundName(entry)
    case "Ignore": actions.append(("Ignore", try flagged(entry, .ignore)))
    default: break
    }
  }

  // MARK: Conditions

  private func uid(_ entry: KeyFile.Entry) throws(KeyFileError) -> [UInt8] {
    guard let uid = UIDText.bytes(entry.raw) else {
      throw file.mistake(
        entry, "\(KeyFile.quoted(entry)) is no UID", "write 4 to 10 bytes, such as 04A2195A, as tagroute read prints")
    }
    guard !UIDText.isRandom(uid) else {
      throw file.mistake(
        entry, "\(KeyFile.quoted(entry)) is random: the tag has another one at each tap", "use another condition")
    }
    return uid
  }

  private func link(_ entry: KeyFile.Entry) throws(KeyFileError) -> LinkCondition {
    let text = try file.string(entry)
    do throws(AssociationError) { return try LinkCondition(text) } catch {
      throw file.mistake(
        entry, "\(KeyFile.quoted(entry)) is no link: \(error.message)",
        "write a link, or a pattern such as https://*.example.com/menu/*")
    }
  }

  private func mimeType(_ entry: KeyFile.Entry) throws(KeyFileError) -> String {
    let parts = entry.raw.lowercased().split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, Self.isToken(parts[0]), parts[1] == "*" || Self.isToken(parts[1]) else {
      throw file.mistake(
        entry, "\(KeyFile.quoted(entry)) is no media type", "write a type such as text/vcard or image/*")
    }
    return parts.joined(separator: "/")
  }

  private func externalType(_ entry: KeyFile.Entry) throws(KeyFileError) -> String {
    let parts = entry.raw.lowercased().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let isVisible = entry.raw.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, isVisible, entry.raw.utf8.count <= 255 else {
      throw file.mistake(
        entry, "\(KeyFile.quoted(entry)) is no external type", "write a type such as example.com:ticket")
    }
    return parts.joined(separator: ":")
  }

  private func digest(_ entry: KeyFile.Entry) throws(KeyFileError) -> String {
    let digits = entry.raw.lowercased().dropPrefix("sha256:")
    guard let digits, digits.utf8.count == 64, digits.allSatisfy(\.isHexDigit) else {
      throw file.mistake(
        entry, "\(KeyFile.quoted(entry)) is no hash", "write sha256: and 64 hexadecimal digits, as sha256sum prints")
    }
    return digits
  }

  private func technology(_ entry: KeyFile.Entry) throws(KeyFileError) -> String {
    guard let type = TagType(rawValue: entry.raw), TagType.readable.contains(type) else {
      throw file.mistake(
        entry, "\(KeyFile.quoted(entry)) is not known",
        "write one of \(TagType.readable.map(\.rawValue).joined(separator: ", "))")
    }
    return type.rawValue
  }

  private func text(_ entry: KeyFile.Entry) throws(KeyFileError) -> String {
    let text = try file.string(entry)
    guard !text.isEmpty, text.utf8.count <= Self.maximumText else {
      throw file.mistake(
        entry, "\(entry.key)= is empty or longer than \(Self.maximumText) bytes", "write a text, or use Message=")
    }
    return text
  }

  // MARK: Actions

  private func open(_ entry: KeyFile.Entry) throws(KeyFileError) -> TapRule.Action {
    guard entry.raw != "default" else { return .openDefault }
    return .open(try desktopID(entry, "write default, or an id such as org.example.Menu"))
  }

  private func desktopID(_ entry: KeyFile.Entry, _ remedy: String) throws(KeyFileError) -> String {
    let id = entry.raw
    guard !id.isEmpty, id.utf8.count <= 255, !id.contains("/"), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw file.mistake(entry, "\(KeyFile.quoted(entry)) is no desktop id", remedy) }
    return AppID.desktopID(id)
  }

  private func arguments(_ entry: KeyFile.Entry) throws(KeyFileError) -> [String] {
    let arguments = try file.strings(entry)
    guard let program = arguments.first, !program.isEmpty else {
      throw file.mistake(
        entry, "\(entry.key)= names no program", "write a program and its arguments, such as mpc;play;")
    }
    // A whole command line as one element is the most likely mistake.
    guard !program.contains(" ") || arguments.count > 1 else {
      throw file.mistake(
        entry, "\(KeyFile.quoted(entry)) is a single program with a space in its name",
        "write ; between program and arguments: no shell runs")
    }
    guard !program.contains("/") || program.hasPrefix("/") else {
      throw file.mistake(
        entry, "\(KeyFile.quoted(entry)) begins with a relative path", "write an absolute path, or a name in PATH")
    }
    let size = arguments.reduce(0) { $0 + $1.utf8.count + 1 }
    guard arguments.count <= Self.maximumArguments, size <= Self.maximumText else {
      throw file.mistake(
        entry, "\(entry.key)= has more than \(Self.maximumArguments) arguments or \(Self.maximumText) bytes",
        "write a script")
    }
    return arguments
  }

  private func flagged(_ entry: KeyFile.Entry, _ action: TapRule.Action) throws(KeyFileError) -> TapRule.Action {
    guard try file.boolean(group.name, entry.key, remedy: "write yes") == true else {
      throw file.mistake(entry, "\(KeyFile.quoted(entry)) is no action", "write \(entry.key)=yes, or another action")
    }
    return action
  }

  /// A name of the Sound Naming Specification. It becomes part of a file's path, so it has no slash.
  private func soundName(_ entry: KeyFile.Entry) throws(KeyFileError) -> String {
    let allowed = "abcdefghijklmnopqrstuvwxyz0123456789-".utf8
    guard (1...64).contains(entry.raw.utf8.count), entry.raw.utf8.allSatisfy(allowed.contains) else {
      throw file.mistake(
        entry, "\(KeyFile.quoted(entry)) is no name of a sound", "write a name such as complete or bell")
    }
    return entry.raw
  }

  // MARK: Errors and tokens

  private func mistake(_ problem: String, _ remedy: String) -> KeyFileError {
    KeyFileError(file: file.file, line: group.line, problem: problem, remedy: remedy)
  }

  /// A token of RFC 2045, section 5.1.
  private static func isToken(_ text: Substring) -> Bool {
    (1...127).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"()<>@,;:\\\"/[]?=*".utf8.contains($0) }
  }
}

extension String {
  fileprivate func dropPrefix(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
