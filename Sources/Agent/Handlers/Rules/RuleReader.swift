import Names
import Routing
import Settings
import UniversalLinks

/// Reads one group of a file of rules.
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
    case "Handler": conditions.append(.handler(try desktopID(entry, "write an id such as org.example.Menu.desktop")))
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
        entry, "\(KeyFile.quoted(entry)) is no UID", "write 4 to 10 bytes, such as 04-A2-19-5A, as tagroute read prints"
      )
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
    return .open(try desktopID(entry, "write default, or an id such as org.example.Menu.desktop"))
  }

  private func desktopID(_ entry: KeyFile.Entry, _ remedy: String) throws(KeyFileError) -> String {
    let id = entry.raw
    guard !id.isEmpty, id.utf8.count <= 255, !id.contains("/"), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw file.mistake(entry, "\(KeyFile.quoted(entry)) is no desktop id", remedy) }
    return id.hasSuffix(".desktop") ? id : id + ".desktop"
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
