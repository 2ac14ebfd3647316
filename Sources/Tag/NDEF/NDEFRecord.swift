/// A record: a payload and its type (NDEF 1.0, section 2.3.2).
///
/// A record may hold values that the specification does not allow; encoding it then fails. A decoded record is always
/// valid. Typed views, such as ``URIRecord``, read the payload.
public struct NDEFRecord: Sendable, Hashable {
  /// How to interpret the type.
  public var typeNameFormat: TypeNameFormat
  /// The type, at most 255 bytes. Empty if and only if the type name format is empty or unknown.
  public var type: [UInt8]
  /// An identifier within the message: a URI reference of at most 255 bytes; empty for none.
  public var id: [UInt8]
  /// The payload, less than 2³² bytes.
  public var payload: [UInt8]

  /// Makes a record.
  ///
  /// - Parameters:
  ///   - typeNameFormat: How to interpret the type.
  ///   - type: The type, at most 255 bytes.
  ///   - id: An identifier within the message, at most 255 bytes; empty for none.
  ///   - payload: The payload, less than 2³² bytes.
  public init(typeNameFormat: TypeNameFormat, type: [UInt8] = [], id: [UInt8] = [], payload: [UInt8] = []) {
    self.typeNameFormat = typeNameFormat
    self.type = type
    self.id = id
    self.payload = payload
  }
}

extension NDEFRecord {
  /// The record without type, id and payload.
  public static let empty = NDEFRecord(typeNameFormat: .empty)

  /// Makes a record of an NFC Forum well-known type.
  ///
  /// - Parameters:
  ///   - type: The type in ASCII, such as `U`.
  ///   - id: An identifier within the message; empty for none.
  ///   - payload: The payload, in the form that the type's definition gives.
  /// - Returns: The record.
  public static func wellKnown(_ type: String, id: [UInt8] = [], payload: [UInt8]) -> NDEFRecord {
    NDEFRecord(typeNameFormat: .wellKnown, type: Array(type.utf8), id: id, payload: payload)
  }

  /// Whether the record is of the given NFC Forum well-known type.
  ///
  /// - Parameter type: The type in ASCII, such as `U`; case-sensitive (RTD 1.0, section 3.4).
  /// - Returns: Whether the record has this type.
  public func isWellKnown(_ type: String) -> Bool {
    typeNameFormat == .wellKnown && self.type.elementsEqual(type.utf8)
  }
}

/// How to interpret the type of a record (NDEF 1.0, section 3.2.6, "TNF").
///
/// The field has three bits. The value 7 is reserved. Decoders treat it as ``unknown``, as the specification
/// recommends, and encoders never write it.
public enum TypeNameFormat: UInt8, Sendable, Hashable, CaseIterable {
  /// The record has no type, id or payload.
  case empty = 0
  /// The type is an NFC Forum well-known type, such as `U` (NFC Record Type Definition 1.0).
  case wellKnown = 1
  /// The type is a media type (RFC 2046), such as `image/png`.
  case mediaType = 2
  /// The type is an absolute URI (RFC 3986) that names the type of the payload.
  case absoluteURI = 3
  /// The type is an NFC Forum external type, such as `example.com:ticket` (NFC Record Type Definition 1.0).
  case external = 4
  /// The record has no type. Only an application that knows the payload can interpret it.
  case unknown = 5
  /// A middle or terminating chunk of a chunked record. It only occurs in encoded messages: decoding reassembles
  /// chunks.
  case unchanged = 6
}

extension NDEFRecord {
  /// Makes a record of a media type.
  ///
  /// - Parameters:
  ///   - type: The media type without parameters, such as `image/png` (RFC 6838, section 4.2).
  ///   - id: An identifier within the message; empty for none.
  ///   - payload: The contents.
  /// - Returns: The record.
  /// - Throws: ``NDEFError`` if this is not a media type.
  public static func media(_ type: String, id: [UInt8] = [], payload: [UInt8]) throws(NDEFError) -> NDEFRecord {
    let names = type.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let isValid = names.allSatisfy { (1...127).contains($0.count) && $0.allSatisfy(\.isInMediaTypeName) }
    guard names.count == 2, isValid, names.allSatisfy({ $0.first?.isLetterOrDigit == true }) else {
      throw NDEFError(.type, at: 0, "a media type has the form type/subtype")
    }
    return NDEFRecord(typeNameFormat: .mediaType, type: Array(type.utf8), id: id, payload: payload)
  }

  /// Makes a record of an external type (NFC Record Type Definition 1.0, section 3.3).
  ///
  /// - Parameters:
  ///   - type: The domain of the type's owner, a colon and a name, such as `example.com:ticket`. It is written in lower
  ///     case, because case has no meaning in it.
  ///   - id: An identifier within the message; empty for none.
  ///   - payload: The contents.
  /// - Returns: The record.
  /// - Throws: ``NDEFError`` if this is not an external type.
  public static func external(_ type: String, id: [UInt8] = [], payload: [UInt8]) throws(NDEFError) -> NDEFRecord {
    let bytes = type.utf8.map(\.lowercased)
    let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    let labels = parts.first?.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) ?? []
    let isDomain = labels.allSatisfy { label in
      (1...63).contains(label.count) && label.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
    }
    guard parts.count == 2, parts[1].count > 0, bytes.count <= 255, isDomain,
      parts[1].allSatisfy(\.isInExternalTypeName)
    else { throw NDEFError(.type, at: 0, "an external type has the form domain:name") }
    return NDEFRecord(typeNameFormat: .external, type: bytes, id: id, payload: payload)
  }

  /// The external type in lower case, because case has no meaning in it; nil for other records. Some writers store the
  /// prefix `urn:nfc:ext:`, which is implied and not part of it (NFC Record Type Definition 1.0, section 3.3).
  public var externalType: String? {
    guard typeNameFormat == .external else { return nil }
    let (type, prefix) = (String(decoding: type, as: UTF8.self).lowercased(), "urn:nfc:ext:")
    return type.hasPrefix(prefix) ? String(type.dropFirst(prefix.count)) : type
  }

  /// Whether the record is of the given media type. Parameters of the record's type are ignored (RFC 2045, section 5.1).
  ///
  /// - Parameter type: The media type without parameters, such as `image/png`; case has no meaning.
  /// - Returns: Whether the record has this type.
  public func isMedia(_ type: String) -> Bool {
    guard typeNameFormat == .mediaType else { return false }
    let name = self.type.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
    return name.elementsEqual(type.utf8) { $0.lowercased == $1.lowercased }
  }
}

extension UInt8 {
  fileprivate var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }

  fileprivate var isLetterOrDigit: Bool {
    (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
  }

  /// RFC 6838, section 4.2: restricted-name-chars.
  fileprivate var isInMediaTypeName: Bool { isLetterOrDigit || "!#$&-^_.+".utf8.contains(self) }

  /// RFC 2141, section 2.2: the characters of a name other than those of an escape.
  fileprivate var isInExternalTypeName: Bool { isLetterOrDigit || "()+,-.:=@;$_!*'".utf8.contains(self) }
}
