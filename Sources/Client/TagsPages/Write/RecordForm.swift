package import NDEF
import Records

/// A record in the form, as the user has filled it in so far.
package struct RecordForm: Sendable, Hashable {
  /// In the order of the menu.
  package enum Kind: String, Sendable, CaseIterable {
    case link
    case text
    case wifi
    case contact
    case place
    case file
    /// Of an external type.
    case data
    /// The records of a file with an encoded message.
    case message
  }

  package enum Field: String, Sendable, Hashable {
    case link
    case text
    case language
    case ssid
    case passphrase
    case name
    case phone
    case mail
    case organisation
    case coordinates
    case type
    case content
    case file
  }

  package struct File: Sendable, Hashable {
    package let name: String
    package let contents: [UInt8]

    package init(name: String, contents: [UInt8]) { (self.name, self.contents) = (name, contents) }
  }

  package struct Mistake: Error, Sendable, Hashable {
    package let field: Field
    /// Why, and what to do.
    package let words: String
  }

  package let id: Int
  package let kind: Kind
  package var texts: [Field: String]
  /// Whether the network needs no password.
  package var isOpen = false
  package var file: File?
  /// The fields that the user has left. What is wrong in others is not shown yet.
  package var visited: Set<Field> = []

  init(id: Int, kind: Kind, texts: [Field: String] = [:]) {
    (self.id, self.kind, self.texts) = (id, kind, texts)
  }

  /// A file that the user has chosen, with the media type that it seems to have.
  package mutating func take(_ file: File, mediaType: String) {
    self.file = file
    visited.insert(.file)
    if kind == .file { texts[.type] = mediaType }
  }

  /// The fields with a text, in order.
  package static func fields(_ kind: Kind) -> [Field] {
    switch kind {
    case .link: [.link]
    case .text: [.text, .language]
    case .wifi: [.ssid, .passphrase]
    case .contact: [.name, .phone, .mail, .organisation]
    case .place: [.coordinates]
    case .file: [.type]
    case .data: [.type, .content]
    case .message: []
    }
  }

  /// How the names of the files end that it takes, without a dot; nil if it takes no file, and empty for every file.
  package static func suffixes(_ kind: Kind) -> [String]? {
    switch kind {
    case .contact: ["vcf", "vcard"]
    case .file: []
    case .message: ["ndef"]
    case .link, .text, .wifi, .place, .data: nil
    }
  }

  /// Fails with the first field that is wrong.
  package func records() throws(Mistake) -> [NDEFRecord] {
    switch kind {
    case .link: [try record(.link(text(.link)))]
    case .text: [try record(.text(texts[.text] ?? "", language: text(.language)))]
    case .wifi: [try record(.wifi(ssid: texts[.ssid] ?? "", passphrase: isOpen ? nil : texts[.passphrase] ?? ""))]
    case .contact: [try record(.contact(try card()))]
    case .place: [try record(.place(coordinates: text(.coordinates).filter { !$0.isWhitespace }))]
    case .file: [try record(.media(type: text(.type), contents: try contents()))]
    case .data: [try record(.external(type: text(.type), contents: Array((texts[.content] ?? "").utf8)))]
    case .message: try message().records
    }
  }

  /// The message of the file.
  func message() throws(Mistake) -> NDEFMessage {
    let contents = try contents()
    do throws(NDEFError) {
      return try NDEFMessage(decoding: contents)
    } catch {
      throw Mistake(field: .file, words: translated("This file holds no message: {reason}", ["reason": "\(error)"]))
    }
  }

  /// Without the spaces around it.
  private func text(_ field: Field) -> String {
    let text = (texts[field] ?? "").drop(while: \.isWhitespace)
    guard let last = text.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(text[...last])
  }

  private func contents() throws(Mistake) -> [UInt8] {
    guard let file else { throw Mistake(field: .file, words: translated("Choose a file.")) }
    return file.contents
  }

  private func card() throws(Mistake) -> [UInt8] {
    if let file { return file.contents }
    let card = CardText(
      name: text(.name), organisation: text(.organisation), phone: text(.phone), mail: text(.mail))
    guard !card.name.isEmpty else {
      throw Mistake(field: .name, words: translated("Type a name, or choose the file of a contact."))
    }
    return card.bytes
  }

  private func record(_ draft: RecordDraft) throws(Mistake) -> NDEFRecord {
    do throws(RecordDraftError) {
      return try draft.record()
    } catch {
      throw mistake(error)
    }
  }

  private func mistake(_ error: RecordDraftError) -> Mistake {
    switch error.field {
    case .link, .title:
      // There are many reasons, and they are English.
      let isMissing = text(.link).isEmpty
      return Mistake(
        field: .link,
        words: isMissing ? translated("Type a link, such as example.com/menu or tel:+15550100.") : error.message)
    case .text: return Mistake(field: .text, words: translated("Type a text that can be seen."))
    case .language:
      return Mistake(field: .language, words: translated("Type the code of a language, such as en or pt-BR."))
    case .ssid: return Mistake(field: .ssid, words: translated("The name of a network has 1 to 32 bytes."))
    case .passphrase:
      return Mistake(
        field: .passphrase,
        words: translated("A password has 8 to 63 plain letters, digits and signs, or 64 hexadecimal digits."))
    case .coordinates:
      return Mistake(
        field: .coordinates,
        words: translated("Type a latitude and a longitude in degrees, such as 48.2010,16.3695."))
    case .contact:
      return Mistake(field: .file, words: translated("This file is not a contact: it does not begin with BEGIN:VCARD."))
    case .type:
      let words =
        kind == .data
        ? translated("Type the kind of the data, such as example.com:ticket.")
        : translated("Type a media type, such as image/png.")
      return Mistake(field: .type, words: words)
    }
  }
}

/// A contact as a vCard (RFC 2426, which phones read).
struct CardText {
  let name: String
  let organisation: String
  let phone: String
  let mail: String

  var bytes: [UInt8] {
    // The version demands the name in parts, too.
    let lines =
      [("N", name), ("FN", name)] + [("ORG", organisation), ("TEL", phone), ("EMAIL", mail)].filter { !$0.1.isEmpty }
    let text = lines.map { name, value in "\(name):\(Self.escaped(value))\(name == "N" ? ";;;;" : "")" }
    return Array((["BEGIN:VCARD", "VERSION:3.0"] + text + ["END:VCARD", ""]).joined(separator: "\r\n").utf8)
  }

  /// RFC 2426, section 5. A control character would end the line.
  private static func escaped(_ value: String) -> String {
    String(
      String.UnicodeScalarView(
        value.unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
          if ["\\", ";", ","].contains(scalar) { return ["\\", scalar] }
          return [scalar.properties.generalCategory == .control ? " " : scalar]
        }))
  }
}
