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

  /// Whether the record is of the given media type.
  ///
  /// - Parameter type: The media type without parameters, such as `image/png`; case has no meaning.
  /// - Returns: Whether the record has this type.
  public func isMedia(_ type: String) -> Bool {
    typeNameFormat == .mediaType && self.type.elementsEqual(type.utf8) { $0.lowercased == $1.lowercased }
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
