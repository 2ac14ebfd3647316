public import Foundation
import NDEF
import Names
import TagrouteClient

/// A record of an NDEF message (NDEF 1.0, section 2.3.2; iOS 11).
///
/// Any values can be set. A message with a record that breaks the rules of its type name format cannot be written.
/// A record can be changed, so two records are equal only if they are the same object, as on iOS.
open class NFCNDEFPayload: NSObject, NSSecureCoding {
  /// How to interpret ``type``.
  open var typeNameFormat: NFCTypeNameFormat
  /// The type, at most 255 bytes. Empty if and only if the format is `empty` or `unknown`.
  open var type: Data
  /// An identifier within the message: a URI reference of at most 255 bytes; empty for none.
  open var identifier: Data
  /// The payload.
  open var payload: Data
  /// The payload length in bytes above which the record is split; 0 for no limit.
  let chunkSize: Int

  /// Makes a record that is written in one piece (iOS 13).
  public required init(format: NFCTypeNameFormat, type: Data, identifier: Data, payload: Data) {
    typeNameFormat = format
    self.type = type
    self.identifier = identifier
    self.payload = payload
    chunkSize = 0
    super.init()
  }

  /// Makes a record that is written in chunks (NDEF 1.0, section 2.3.3; iOS 13).
  ///
  /// Many readers do not read chunks, and the specifications of most tag types forbid them. `chunkSize` is the longest
  /// payload of a chunk in bytes; 0 or less for no chunks.
  public init(format: NFCTypeNameFormat, type: Data, identifier: Data, payload: Data, chunkSize: Int) {
    typeNameFormat = format
    self.type = type
    self.identifier = identifier
    self.payload = payload
    self.chunkSize = max(0, chunkSize)
    super.init()
  }

  /// Restores a record from an archive.
  public required init?(coder: NSCoder) {
    guard
      let format = UInt8(exactly: coder.decodeInteger(forKey: Key.format))
        .flatMap(NFCTypeNameFormat.init(rawValue:)),
      let type = coder.decodeObject(of: NSData.self, forKey: Key.type),
      let identifier = coder.decodeObject(of: NSData.self, forKey: Key.identifier),
      let payload = coder.decodeObject(of: NSData.self, forKey: Key.payload)
    else { return nil }
    typeNameFormat = format
    self.type = Data(referencing: type)
    self.identifier = Data(referencing: identifier)
    self.payload = Data(referencing: payload)
    chunkSize = max(0, coder.decodeInteger(forKey: Key.chunkSize))
    super.init()
  }

  /// Stores the record.
  open func encode(with coder: NSCoder) {
    coder.encode(Int(typeNameFormat.rawValue), forKey: Key.format)
    coder.encode(NSData(data: type), forKey: Key.type)
    coder.encode(NSData(data: identifier), forKey: Key.identifier)
    coder.encode(NSData(data: payload), forKey: Key.payload)
    coder.encode(chunkSize, forKey: Key.chunkSize)
  }

  /// True.
  open class var supportsSecureCoding: Bool { true }

  /// The fields, with hexadecimal digits, as on iOS: `TNF=1, Payload Type=<55>, Payload ID=<>, Payload=<046e>`.
  open override var description: String {
    "TNF=\(typeNameFormat.rawValue), Payload Type=<\(type.digits)>, Payload ID=<\(identifier.digits)>, "
      + "Payload=<\(payload.digits)>"
  }

  private enum Key {
    static let format = "typeNameFormat"
    static let type = "type"
    static let identifier = "identifier"
    static let payload = "payload"
    static let chunkSize = "chunkSize"
  }

  // MARK: Well-known types

  /// Makes a URI record (NFC Forum URI RTD 1.0, type `U`) with the prefix code that abbreviates the most (iOS 13).
  ///
  /// - Parameter uri: the URI. It may contain characters that a `URL` cannot hold, and is stored as UTF-8.
  /// - Returns: the record; nil if the URI is empty.
  open class func wellKnownTypeURIPayload(string uri: String) -> Self? {
    uri.isEmpty ? nil : wellKnown(URIRecord(uri).record())
  }

  /// Makes a URI record as the form with a string does (iOS 13).
  open class func wellKnownTypeURIPayload(url: URL) -> Self? {
    wellKnownTypeURIPayload(string: url.absoluteString)
  }

  /// Makes a text record (NFC Forum Text RTD 1.0, type `T`; iOS 13).
  ///
  /// The text is stored as UTF-8, which more readers support than the UTF-16 of iOS.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - locale: has the language of the text. Language, script and region are stored, such as `en` or `zh-Hans-CN`.
  /// - Returns: the record; nil if the locale has no language.
  open class func wellKnownTypeTextPayload(string text: String, locale: Locale) -> Self? {
    guard let language = LanguageTag.of(localeIdentifier: locale.identifier),
      let record = try? TextRecord(text, language: language).record()
    else { return nil }
    return wellKnown(record)
  }

  /// The former name of `wellKnownTypeTextPayload(string:locale:)`.
  @available(*, deprecated, renamed: "wellKnownTypeTextPayload(string:locale:)")
  open class func wellKnowTypeTextPayload(string text: String, locale: Locale) -> Self? {
    wellKnownTypeTextPayload(string: text, locale: locale)
  }

  /// A record of this class, which may be a subclass.
  private class func wellKnown(_ record: NDEFRecord) -> Self {
    self.init(format: .nfcWellKnown, type: Data(record.type), identifier: Data(), payload: Data(record.payload))
  }

  /// The URI of a URI record, with its prefix (iOS 13). It comes from the tag, so it may be anything.
  ///
  /// - Returns: the URI; nil if the record is no valid URI record or `URL` does not accept its contents.
  open func wellKnownTypeURIPayload() -> URL? {
    (try? URIRecord(record)).flatMap { URL(string: $0.uri) }
  }

  /// The text and the language of a text record, in UTF-8 or UTF-16 (iOS 13).
  ///
  /// - Returns: both; both are nil if the record is no valid text record.
  open func wellKnownTypeTextPayload() -> (String?, Locale?) {
    guard let text = try? TextRecord(record) else { return (nil, nil) }
    return (text.text, Locale(identifier: text.language))
  }
}

extension NFCNDEFPayload {
  convenience init(_ record: NDEFRecord) {
    self.init(
      format: NFCTypeNameFormat(rawValue: record.typeNameFormat.rawValue) ?? .unknown, type: Data(record.type),
      identifier: Data(record.id), payload: Data(record.payload))
  }

  var record: NDEFRecord {
    NDEFRecord(
      typeNameFormat: TypeNameFormat(rawValue: typeNameFormat.rawValue) ?? .unknown, type: Array(type),
      id: Array(identifier), payload: Array(payload))
  }
}

extension Data {
  /// The bytes as hexadecimal digits.
  fileprivate var digits: String { Hexadecimal.text(self).lowercased() }
}

/// How to interpret the type of a record (NDEF 1.0, section 3.2.6, "TNF"; iOS 11).
public enum NFCTypeNameFormat: UInt8, Sendable {
  /// The record has no type, identifier or payload.
  case empty = 0
  /// The type is an NFC Forum well-known type, such as `U`.
  case nfcWellKnown = 1
  /// The type is a media type (RFC 2046), such as `image/png`.
  case media = 2
  /// The type is an absolute URI (RFC 3986) that names the type of the payload.
  case absoluteURI = 3
  /// The type is an NFC Forum external type, such as `example.com:ticket`.
  case nfcExternal = 4
  /// The record has no type.
  case unknown = 5
  /// A chunk that continues a record. A message that was read has none, because its chunks are put together.
  case unchanged = 6
}

/// Whether a tag holds NDEF messages (iOS 13).
public enum NFCNDEFStatus: UInt, Sendable {
  /// The tag holds none, and is not formatted for them.
  case notSupported = 1
  /// Messages can be read and written.
  case readWrite = 2
  /// Messages can only be read.
  case readOnly = 3
}

/// The language codes of text records (NFC Forum Text RTD 1.0, section 3.2.2; RFC 5646).
enum LanguageTag {
  /// The language, script and region of a locale, such as `zh-Hans-CN` for `zh_Hans_CN` or `en-US` for `en_US_POSIX`.
  ///
  /// - Parameter identifier: the identifier of a `Locale`. What follows `@` or `.` is ignored, such as a currency.
  /// - Returns: the language code; nil if the identifier has no language.
  static func of(localeIdentifier identifier: String) -> String? {
    let name = identifier.prefix { $0 != "@" && $0 != "." }
    var parts = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }[...]
    guard let language = parts.popFirst(), (2...8).contains(language.utf8.count), language.utf8.allSatisfy(isLetter)
    else { return nil }
    var tag = language.lowercased()
    if let script = parts.first, script.utf8.count == 4, script.utf8.allSatisfy(isLetter) {
      tag += "-" + script
      parts.removeFirst()
    }
    if let region = parts.first, isRegion(region) { tag += "-" + region }
    return tag
  }

  /// Two letters (ISO 3166-1) or three digits (UN M.49).
  private static func isRegion(_ part: Substring) -> Bool {
    part.utf8.count == 2 && part.utf8.allSatisfy(isLetter)
      || part.utf8.count == 3 && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
