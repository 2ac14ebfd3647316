package import NDEF

/// The type of a record that apps can declare: a media type, or an NFC Forum external type.
///
/// The text is ASCII, in lower case and bounded, so messages may quote it.
package enum RecordType: Sendable, Hashable, CustomStringConvertible {
  /// A media type without its parameters, such as `text/vcard` (RFC 6838, section 4.2).
  case media(String)
  /// An external type, such as `example.com:ticket` (NFC Record Type Definition 1.0, section 3.3).
  case external(String)

  /// Nil for records of other types, and if the type is malformed.
  package init?(_ record: NDEFRecord) {
    // A type of NDEF has at most 255 bytes.
    switch record.typeNameFormat {
    case .mediaType:
      guard let type = RecordType.mediaType(of: String(decoding: record.type, as: UTF8.self)) else { return nil }
      self = .media(type)
    case .external:
      guard let type = record.externalType.flatMap(RecordType.externalType) else { return nil }
      self = .external(type)
    case .empty, .wellKnown, .absoluteURI, .unknown, .unchanged: return nil
    }
  }

  /// The type itself.
  package var description: String {
    switch self {
    case .media(let type), .external(let type): type
    }
  }

  /// The claims that cover the type, the most exact first: the type, the same type by its other name, and for media
  /// types `image/*`.
  package var claims: [String] {
    guard case .media(let type) = self else { return [description] }
    let top = type.prefix { $0 != "/" }
    return [type, RecordType.aliases[type], "\(top)/*"].compactMap(\.self)
  }

  /// Reads a media type or `type/*` that a handler declares. Returns it in its one spelling; nil if it is malformed.
  package static func mediaClaim(_ text: String) -> String? {
    guard text.hasSuffix("/*") else { return mediaType(of: text) }
    let top = text.dropLast(2)
    return isName(top) && !desktopTrees.contains(top.lowercased()) ? top.lowercased() + "/*" : nil
  }

  /// Reads an external type that a handler declares. Returns it in its one spelling; nil if it is malformed, or names
  /// an Android app, which no app here gets.
  package static func externalClaim(_ text: String) -> String? {
    externalType(of: text).flatMap { $0 == androidApplication ? nil : $0 }
  }

  /// Reads a claim to a media type or an external type. A domain has no slash and no colon.
  static func claim(_ text: String) -> String? {
    text.contains("/") ? mediaClaim(text) : text.contains(":") ? externalClaim(text) : nil
  }

  /// The external type of Android application records. Each names an Android app for a phone (Android, "NFC basics").
  package static let androidApplication = "android.com:pkg"

  /// Other names of a media type (shared-mime-info). Tags of Android have `text/x-vcard`.
  private static let aliases = [
    "text/x-vcard": "text/vcard", "text/directory": "text/vcard", "text/x-vcalendar": "text/calendar",
    "application/ics": "text/calendar",
  ]

  /// The parameters are dropped (RFC 2045, section 5.1).
  private static func mediaType(of text: String) -> String? {
    let type = text.prefix { $0 != ";" && $0 != " " }
    let names = type.split(separator: "/", omittingEmptySubsequences: false)
    guard names.count == 2, names.allSatisfy(isName), !desktopTrees.contains(names[0].lowercased()) else { return nil }
    return type.lowercased()
  }

  /// The desktop's own types, which are not contents of a record (shared-mime-info 0.21, section 2.9).
  private static let desktopTrees: Set<String> = ["inode", "x-content", "x-scheme-handler", "x-url-handler"]

  /// RFC 6838, section 4.2, without `#`, which begins a comment in some files.
  private static func isName(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, isAlphanumeric(first), text.utf8.count <= 127 else { return false }
    return text.utf8.allSatisfy { isAlphanumeric($0) || "!$&-^_.+".utf8.contains($0) }
  }

  /// A domain, a colon and a name. Names with a second colon are possible, but not in use.
  private static func externalType(of text: String) -> String? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let domain = parts.first, let name = parts.last, text.utf8.count <= 255,
      let first = domain.utf8.first, isAlphanumeric(first), !name.isEmpty,
      domain.utf8.allSatisfy({ isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }),
      name.utf8.allSatisfy({ isAlphanumeric($0) || "-_.+!$'()*,@".utf8.contains($0) })
    else { return nil }
    return text.lowercased()
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}

extension RecordType {
  /// `image/*` covers `image/png`.
  static func claims(covering claim: String) -> [String] {
    mediaType(of: claim).map { RecordType.media($0).claims } ?? []
  }
}

/// The record of a message that decides if there is no link: the first one with a media type or an external type.
package struct TypedRecord: Sendable, Hashable {
  /// Its place in the message, from 1.
  package let number: Int
  package let type: RecordType

  /// Nil if the message is not that of the same tap.
  package func payload(in message: NDEFMessage) -> [UInt8]? {
    guard message.records.indices.contains(number - 1) else { return nil }
    let record = message.records[number - 1]
    return RecordType(record) == type ? record.payload : nil
  }

  enum Search {
    /// The message has no record of such a type, or only Android application records.
    case absent(androidRecords: [Int])
    /// The type of the record with this number is malformed.
    case malformed(Int)
    case found(TypedRecord)
  }

  /// Looks for the record. Android application records are skipped: Android writes them beside the record that is meant
  /// for every device.
  static func search(_ message: NDEFMessage) -> Search {
    var androidRecords: [Int] = []
    for (number, record) in zip(1..., message.records) {
      guard record.typeNameFormat == .mediaType || record.typeNameFormat == .external else { continue }
      guard let type = RecordType(record) else { return .malformed(number) }
      guard type != .external(RecordType.androidApplication) else {
        androidRecords.append(number)
        continue
      }
      return .found(TypedRecord(number: number, type: type))
    }
    return .absent(androidRecords: androidRecords)
  }
}

/// The answer of the desktop about the default application of a media type.
package enum TypeDefault: Sendable, Hashable {
  /// It can open a file.
  case application(Application)
  case missing
  /// The default application cannot be used, or is not known; the reason is a sentence without its full stop.
  case unusable(String)
}

extension RecordType {
  /// Whether the default application may get a record of this type as a file.
  ///
  /// Some default applications run a file, install it, or open it as a page with scripts that read other files. A tag
  /// must not cause that, as it must not open `javascript:` or `file:` links. So only these types go there: data that
  /// is shown or played. A handler that declares another type gets it, and so does an app that the user's rule names
  /// for it.
  var mayBeFile: Bool {
    guard case .media(let type) = self else { return false }
    return Self.files.contains(type)
  }

  /// Contacts, calendars, plain text, PDF, and the usual formats of images, audio and video, with the names that apps of
  /// other systems use for them. `FileExtension` in Handlers has the extension of each.
  static let files: Set<String> = [
    "text/vcard", "text/x-vcard", "text/directory", "text/calendar", "text/x-vcalendar", "text/plain",
    "application/pdf",
    "image/avif", "image/bmp", "image/gif", "image/heic", "image/heif", "image/jpeg", "image/jpg", "image/jxl",
    "image/png", "image/tiff", "image/webp",
    "audio/aac", "audio/flac", "audio/midi", "audio/mp3", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/opus",
    "audio/wav", "audio/webm", "audio/x-flac", "audio/x-m4a", "audio/x-wav",
    "video/mp4", "video/mpeg", "video/ogg", "video/quicktime", "video/webm", "video/x-m4v", "video/x-matroska",
  ]
}
