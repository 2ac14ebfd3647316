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
