package import Handlers
import Names
import Records
import Routing
import UniversalLinks

/// A rule as the form has it: the user's texts, and the rule that they make.
package struct RuleForm: Sendable, Hashable {
  /// Which tags the rule is for. The raw values of this and of `Effect` are the positions in their lists.
  package enum Subject: Int, Sendable, Hashable, CaseIterable {
    case tag
    case link
    case app
    case type
  }

  package enum Effect: Int, Sendable, Hashable, CaseIterable {
    case openDefault
    case open
    case run
    case show
    case ignore

    /// Whether a rule can do it without a click.
    package var canSkipClick: Bool { self != .show && self != .ignore }
  }

  package enum Field: Sendable, Hashable, CaseIterable {
    case name
    case uid
    case link
    case app
    case type
    case openedApp
    case program
    case arguments
    case position
  }

  /// The mistakes, each in a sentence for its field.
  package struct Mistakes: Error, Sendable, Hashable {
    package fileprivate(set) var texts: [Field: String]

    /// None by default.
    package init(texts: [Field: String] = [:]) { self.texts = texts }
  }

  package var name = ""
  package var subject = Subject.tag
  package var uid = ""
  /// The tag that has filled in the UID. It has no effect if the UID was changed afterwards.
  package var picked: PickedTag?
  /// Whether the rule holds only while the tag has the present message.
  package var isForMessage = false
  package var link = ""
  /// The desktop id of the handler that the rule is for.
  package var app = ""
  package var type = ""
  package var effect = Effect.openDefault
  /// The desktop id of the app to open, with or without `.desktop`.
  package var openedApp = ""
  package var program = ""
  package var arguments = ""
  package var skipsClick = false
  /// The name of the rule that is tried after this one; nil to write this one last.
  package var next: String?

  package init() {}

  /// Takes the UID of a tag.
  package mutating func take(_ tag: PickedTag) {
    (subject, uid, picked) = (.tag, UIDText.text(tag.uid), tag)
    if tag.message == nil { isForMessage = false }
  }

  /// The message that the rule can be bound to.
  package var knownMessage: [UInt8]? {
    guard let picked, UIDText.bytes(uid) == picked.uid else { return nil }
    return picked.message
  }

  /// The fields that have a meaning.
  package var fields: Set<Field> {
    let condition: Field =
      switch subject {
      case .tag: .uid
      case .link: .link
      case .app: .app
      case .type: .type
      }
    let action: [Field] =
      switch effect {
      case .open: [.openedApp]
      case .run: [.program, .arguments]
      case .openDefault, .show, .ignore: []
      }
    return Set([.name, condition, .position] + action)
  }

  /// The rule, for ``RuleFiles/add(_:before:)``. `present` are the rules that there are.
  package func rule(_ present: RuleFiles.Content) -> Result<RuleDraft, Mistakes> {
    var mistakes = Mistakes()
    let name = checkedName(present, &mistakes)
    let conditions = conditions(&mistakes)
    let action = action(&mistakes)
    let next = next.flatMap { next in present.rules.first { $0.origin == .user && $0.name == next } }
    if self.next != nil, next == nil { mistakes.texts[.position] = translated("This rule is not there any more.") }
    guard mistakes.texts.isEmpty else { return .failure(mistakes) }
    let draft = RuleDraft(
      name: name, conditions: conditions, action: action, asks: !(skipsClick && effect.canSkipClick))
    if let mistake = draft.mistake { return .failure(Mistakes(texts: Self.text(for: mistake.key, in: draft))) }
    if let other = present.rule(hiding: conditions, before: next) {
      let text = translated(
        "The rule “{rule}” is tried first and takes each such tag. Put this one before it.", ["rule": other.name])
      return .failure(Mistakes(texts: [.position: text]))
    }
    return .success(draft)
  }

  private func checkedName(_ present: RuleFiles.Content, _ mistakes: inout Mistakes) -> String {
    let name = name.trimmed
    if name.isEmpty {
      mistakes.texts[.name] = translated("Give the rule a name.")
    } else if present.rules.contains(where: { $0.origin == .user && $0.name == name }) {
      mistakes.texts[.name] = translated("Another rule has this name.")
    }
    return name
  }

  private func conditions(_ mistakes: inout Mistakes) -> [TapRule.Condition] {
    switch subject {
    case .tag:
      guard let uid = UIDText.bytes(uid.trimmed) else {
        mistakes.texts[.uid] = translated("Write 4 to 10 bytes, such as 04A2195A.")
        return []
      }
      let technology = uid == picked?.uid ? picked?.technology ?? "" : ""
      switch UIDText.obstacle(toRuleWith: uid, technology: technology) {
      case .changes?: mistakes.texts[.uid] = translated("This tag has another UID each time. Choose another condition.")
      case .mayChange?:
        mistakes.texts[.uid] = translated("This tag may have another UID each time. Choose another condition.")
      case nil: break
      }
      let message = isForMessage ? knownMessage : nil
      return [.uid(uid)] + (message.map { [.message(MessageDigest.sha256($0))] } ?? [])
    case .link:
      do throws(AssociationError) {
        return [.link(try Self.link(link.trimmed))]
      } catch {
        mistakes.texts[.link] = translated(
          "Write a link, or a pattern such as https://*.example.com/menu/*: {reason}.", ["reason": error.message])
        return []
      }
    case .app:
      if app.isEmpty { mistakes.texts[.app] = translated("Choose an app.") }
      return [.handler(AppID.desktopID(app))]
    case .type:
      let type = type.trimmed.lowercased()
      return [type.contains("/") || !type.contains(":") ? .mimeType(type) : .externalType(type)]
    }
  }

  /// As a link is typed elsewhere, `https://` can be left out.
  private static func link(_ text: String) throws(AssociationError) -> LinkCondition {
    let isPattern = text.contains("*") || text.contains("$(")
    if !isPattern, let uri = try? TypedLink.uri(text) { return try LinkCondition(uri.string) }
    do throws(AssociationError) {
      return try LinkCondition(text)
    } catch {
      guard isPattern, !text.contains("://"), let web = try? LinkCondition("https://" + text) else { throw error }
      return web
    }
  }

  private func action(_ mistakes: inout Mistakes) -> TapRule.Action {
    switch effect {
    case .openDefault: return .openDefault
    case .open:
      let id = openedApp.trimmed
      if id.isEmpty { mistakes.texts[.openedApp] = translated("Choose an app.") }
      // The word for the default application.
      if AppID.text(id) == "default" { mistakes.texts[.openedApp] = Self.badApp }
      return .open(AppID.desktopID(id))
    case .run:
      let program = program.trimmed
      let words = ProgramArguments.words(arguments)
      if words == nil {
        mistakes.texts[.arguments] = translated("A quotation mark or a character is missing at the end.")
      }
      if program.isEmpty {
        mistakes.texts[.program] = translated("Name a program.")
      } else if program.contains(" "), !program.hasPrefix("/"), words?.isEmpty == true {
        mistakes.texts[.program] = translated("Write the arguments into their own field.")
      } else if program.contains("/"), !program.hasPrefix("/") {
        mistakes.texts[.program] = translated("Write the whole path of the program, from / on, or only its name.")
      }
      return .run([program] + (words ?? []))
    case .show: return .show
    case .ignore: return .ignore
    }
  }

  private static var badApp: String { translated("Write the id of an app, such as org.example.Menu.") }

  /// For a mistake that only the reader of the file has found. The key is that of its line.
  private static func text(for key: String?, in draft: RuleDraft) -> [Field: String] {
    switch key {
    case "UID", "Message": [.uid: translated("Write 4 to 10 bytes, such as 04A2195A.")]
    case "Link": [.link: translated("This link cannot be written into a rule.")]
    case "MimeType", "ExternalType":
      [.type: translated("Write a type such as text/vcard, image/* or example.com:ticket.")]
    case "Handler": [.app: translated("Choose an app.")]
    case "Open": [.openedApp: badApp]
    case "Run": [.program: translated("This program and its arguments cannot be written into a rule. Name a script.")]
    default: [.name: translated("A rule cannot have this name.")]
    }
  }
}

extension String {
  /// Without white space at its beginning and its end.
  var trimmed: String {
    let start = drop(while: \.isWhitespace)
    return start.lastIndex { !$0.isWhitespace }.map { String(start[...$0]) } ?? ""
  }
}
