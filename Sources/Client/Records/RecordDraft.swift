package import NDEF
import Notifications
import Routing
import UniversalLinks

/// A record that a person wants on a tag, as typed. A tap of the tag offers exactly this content.
package enum RecordDraft: Hashable, Sendable {
  /// See ``TypedLink``.
  case link(String)
  /// The language is that of a text record, such as `en` (RFC 5646).
  case text(String, language: String)
  /// A link with a title, or without one.
  case smartPoster(link: String, title: String?, language: String)
  /// A WPA2 network; an open one if the passphrase is nil.
  case wifi(ssid: String, passphrase: String?)
  /// A latitude and a longitude in degrees, with a comma in between.
  case place(coordinates: String)
  /// A vCard.
  case contact([UInt8])
  /// The contents of a file, with its media type.
  case media(type: String, contents: [UInt8])
  /// Data of an NFC Forum external type, such as `example.com:ticket`.
  case external(type: String, contents: [UInt8])

  /// Fails if the standards do not allow the record, or no tap would offer it.
  package func record() throws(RecordDraftError) -> NDEFRecord {
    switch self {
    case .link(let text): return URIRecord(try TypedLink.uri(text).string).record()
    case .text(let text, let language):
      let record = try Self.checked(.language) { () throws(NDEFError) in
        try TextRecord(text, language: language).record()
      }
      try Self.check(visible: text, .text)
      return record
    case .smartPoster(let link, let title, let language):
      let uri = try TypedLink.uri(link).string
      let titles = title.map { [TextRecord($0, language: language)] } ?? []
      let record = try Self.checked(.language) { () throws(NDEFError) in
        try SmartPosterRecord(uri: uri, titles: titles).record()
      }
      if let title { try Self.check(visible: title, .title) }
      return record
    case .wifi(let ssid, let passphrase):
      let network = WiFiNetwork(ssid: ssid, passphrase: passphrase)
      return try Self.checked((1...32).contains(network.ssid.count) ? .passphrase : .ssid) { () throws(NDEFError) in
        try WiFiRecord([network]).record()
      }
    case .place(let text):
      guard text.utf8.count <= 64, text.split(separator: ",").count == 2, Place(coordinates: text) != nil else {
        throw RecordDraftError(
          .coordinates, "write a latitude and a longitude in degrees, such as 48.2010,16.3695")
      }
      return URIRecord("geo:\(text)").record()
    case .contact(let card):
      guard String(decoding: card.prefix(11), as: UTF8.self).uppercased() == "BEGIN:VCARD" else {
        throw RecordDraftError(.contact, "not a contact card: it does not begin with BEGIN:VCARD")
      }
      return try Self.declared { () throws(NDEFError) in try .media("text/vcard", payload: card) }
    case .media(let type, let contents):
      return try Self.declared { () throws(NDEFError) in try .media(type, payload: contents) }
    case .external(let type, let contents):
      let typed = NDEFRecord(typeNameFormat: .external, type: Array(type.utf8))
      return try Self.declared { () throws(NDEFError) in
        try .external(typed.externalType ?? type, payload: contents)
      }
    }
  }

  /// `field` is the one that the error is about.
  private static func checked(
    _ field: RecordDraftError.Field, _ make: () throws(NDEFError) -> NDEFRecord
  ) throws(RecordDraftError) -> NDEFRecord {
    do throws(NDEFError) {
      return try make()
    } catch {
      // The offset is one in the record, which the person does not see.
      throw RecordDraftError(field, error.reason)
    }
  }

  /// A record with a type that apps can declare.
  private static func declared(_ make: () throws(NDEFError) -> NDEFRecord) throws(RecordDraftError) -> NDEFRecord {
    let record = try checked(.type, make)
    guard RecordType(record) != nil else {
      throw RecordDraftError(.type, "no tap would offer this type: no app can declare it")
    }
    return record
  }

  private static func check(visible text: String, _ field: RecordDraftError.Field) throws(RecordDraftError) {
    guard !DisplayText(text).isEmpty else {
      throw RecordDraftError(field, "no tap would show this text: it has no visible character")
    }
  }
}

/// Which field of a draft is wrong.
package struct RecordDraftError: Error, Hashable {
  package enum Field: Hashable, Sendable {
    case link
    case text
    case title
    case language
    case ssid
    case passphrase
    case coordinates
    case contact
    case type
  }

  package let field: Field
  /// Why, and what to do. A form shows it beside the field.
  package let message: String

  init(_ field: Field, _ message: String) { (self.field, self.message) = (field, message) }
}
