/// What a Type 4A tag says of itself and how it keeps its message.
public struct Type4Options: Sendable, Hashable {
  /// The major version of the mapping: 2 keeps lengths in two bytes, 3 in four.
  public var mappingVersion = 2
  /// The most bytes that READ BINARY gives at once.
  public var maximumRead = 59
  /// The most bytes that UPDATE BINARY takes at once.
  public var maximumWrite = 52
  /// The bytes of the NDEF file, its length field included; nil makes it as large as the message needs, 256 at least.
  public var fileSize: Int?
  /// What the length field of the NDEF file says instead of the truth.
  public var declaredLength: Int?
  /// Whether the capability container forbids writing.
  public var isReadOnly = false
  /// The answer to select, its length byte first. A wrong length byte is sent as it is: libnfc dies of a 0.
  public var ats: [UInt8] = [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]
  /// SAK, in which bit 6 says that the tag speaks ISO/IEC 14443-4.
  public var sak: UInt8 = 0x20

  /// As a DESFire in its NDEF configuration.
  public init() {}
}
