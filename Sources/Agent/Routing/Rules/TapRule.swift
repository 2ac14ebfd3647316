import NDEF
package import UniversalLinks

/// A rule of the user or the administrator: what a tag that meets its conditions does.
package struct TapRule: Sendable, Hashable {
  /// A property that a tag must have.
  package enum Condition: Sendable, Hashable {
    /// The tag's UID.
    case uid([UInt8])
    /// The link that would be opened.
    case link(LinkCondition)
    /// The media type of one of the records, in lower case and without parameters. `text/*` covers all texts.
    case mimeType(String)
    /// The NFC Forum external type of one of the records, in lower case.
    case externalType(String)
    /// The exact text of one of the Text records.
    case text(String)
    /// The SHA-256 of the whole message: 64 lower-case hexadecimal digits.
    case message(String)
    /// The technology, such as `type-2`.
    case technology(String)
    /// The reader: its object path, or the last part of that.
    case reader(String)
    /// The desktop id of the handler that opens the tag without rules, and needs no permission for that.
    case handler(String)
  }

  /// What the tag does.
  package enum Action: Sendable, Hashable {
    /// Opens the link in the application with this desktop id.
    case open(String)
    /// Opens the link in the default application of its scheme.
    case openDefault
    /// Runs a program with these arguments. The first one is the program.
    case run([String])
    /// Shows what is on the tag, and opens no app.
    case show
    /// Nothing.
    case ignore
  }

  /// Whose rule it is. The user's rules are tried first.
  package enum Origin: String, Sendable, Hashable, CaseIterable {
    /// The user's.
    case user
    /// The administrator's.
    case system
  }

  /// The name in the header of its group.
  package let name: String
  /// Whose rule it is.
  package let origin: Origin
  /// The path of its file.
  package let file: String
  /// The line of its header, from 1.
  package let line: Int
  /// All of them must hold. Not empty.
  package let conditions: [Condition]
  /// What the tag does.
  package let action: Action
  /// Whether the user is asked first, with a notification.
  package let asks: Bool
  /// The program, and its arguments, that runs when the tag of a tap is removed after the action was carried out. Empty
  /// if none does.
  package let onRemove: [String]
  /// The name of the notification's sound, in the Sound Naming Specification; nil for the usual one.
  package let sound: String?

  /// A rule from the line of a file. It has at least one condition.
  package init(
    name: String, origin: Origin, file: String, line: Int, conditions: [Condition], action: Action, asks: Bool = true,
    onRemove: [String] = [], sound: String? = nil
  ) {
    self.name = name
    self.origin = origin
    self.file = file
    self.line = line
    self.conditions = conditions
    self.action = action
    self.asks = asks
    self.onRemove = onRemove
    self.sound = sound
  }

  /// `“NAME” (FILE:LINE)`, for messages.
  package var place: String { "“\(name)” (\(file):\(line))" }
}

extension TapRule.Condition {
  /// The key in a file.
  package var key: String {
    switch self {
    case .uid: "UID"
    case .link: "Link"
    case .mimeType: "MimeType"
    case .externalType: "ExternalType"
    case .text: "Text"
    case .message: "Message"
    case .technology: "Technology"
    case .reader: "Reader"
    case .handler: "Handler"
    }
  }
}

extension TapRule.Action {
  /// The kind of action. Scripts read the values.
  package var kind: String {
    switch self {
    case .open: "open"
    case .openDefault: "open-default"
    case .run: "run"
    case .show: "show"
    case .ignore: "ignore"
    }
  }
}

/// What rules examine in a message. A tag without a message can still match by its UID, technology and reader.
extension TagRead {
  private var records: [NDEFRecord] { message?.records ?? [] }

  /// The media types of the records, in lower case and without parameters (RFC 2045, section 5.1).
  var mimeTypes: [String] {
    records.filter { $0.typeNameFormat == .mediaType }.map { record in
      String(String(decoding: record.type, as: UTF8.self).prefix { $0 != ";" && $0 != " " }).lowercased()
    }
  }

  /// The external types of the records.
  var externalTypes: [String] { records.compactMap(\.externalType) }

  /// The texts of the Text records.
  var texts: [String] { records.compactMap { try? TextRecord($0).text } }
}
