import NDEF
package import UniversalLinks

/// A rule of the user or the administrator: what a tag that meets its conditions does.
package struct TapRule: Sendable, Hashable {
  package enum Condition: Sendable, Hashable {
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
    /// Its number, object path, name or device.
    case reader(String)
    /// The desktop id of the handler that opens the tag without rules, and needs no permission for that.
    case handler(String)
  }

  package enum Action: Sendable, Hashable {
    /// In the application with this desktop id.
    case open(String)
    /// Opens the link in the default application of its scheme.
    case openDefault
    /// The first argument is the program.
    case run([String])
    /// Shows the tag's contents, and opens no app.
    case show
    case ignore
  }

  /// The user's rules are tried first.
  package enum Origin: String, Sendable, Hashable, CaseIterable {
    case user
    case system
  }

  /// In the header of its group.
  package let name: String
  package let origin: Origin
  package let file: String
  /// Of its header, from 1.
  package let line: Int
  /// All of them must hold. Not empty.
  package let conditions: [Condition]
  package let action: Action
  /// With a notification, before the action.
  package let asks: Bool
  /// The program, and its arguments, that runs when the tag of a tap is removed after the action was carried out. Empty
  /// if none does.
  package let onRemove: [String]
  /// The name of the notification's sound, in the Sound Naming Specification; nil for the usual one.
  package let sound: String?

  /// Has at least one condition.
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

  /// Whether this rule holds for each tag that has these conditions, because all of its own are among them. A rule that
  /// covers them in another way, such as by a pattern, is not found.
  package func covers(_ conditions: [Condition]) -> Bool { self.conditions.allSatisfy(conditions.contains) }

  /// `“NAME” (FILE:LINE)`, for messages.
  package var place: String { "“\(name)” (\(file):\(line))" }
}

extension TapRule.Condition {
  /// In a file.
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
  /// Scripts read the values.
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

  /// Of the records, in lower case and without parameters (RFC 2045, section 5.1).
  var mimeTypes: [String] {
    records.filter { $0.typeNameFormat == .mediaType }.map { record in
      String(String(decoding: record.type, as: UTF8.self).prefix { $0 != ";" && $0 != " " }).lowercased()
    }
  }

  var externalTypes: [String] { records.compactMap(\.externalType) }

  var texts: [String] { records.compactMap { try? TextRecord($0).text } }
}
