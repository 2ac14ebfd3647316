/// What a Type 4 tag says of itself and how it keeps its message.
public struct Type4Options: Sendable, Hashable {
  /// The major version of the mapping: 2 keeps lengths in two bytes, 3 in four, where `usesShortControl` is not set.
  public var mappingVersion = 2
  /// Whether mapping 3 describes the file as mapping 2 does, with lengths in two bytes.
  public var usesShortControl = false
  /// Control TLV blocks of the capability container in front of the one for the NDEF file.
  public var blocksBefore: [UInt8] = []
  /// Those behind it.
  public var blocksBehind: [UInt8] = []
  /// Whether anybody may write the capability container, and so lock the tag. A DESFire or NTAG 424 does not allow it.
  public var containerIsWritable = false
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

  /// Whether REQA and WUPA end the block protocol. A card by the standard ignores them there; libfreefare's tools select a
  /// card that they have left there, and find only one that does not.
  public var leavesOnRequest = false
  /// Whether it is selected only after anticollision in the same cascade level, and not by a reader that knows its UID: a clone.
  public var needsAnticollision = false
  /// How many times it asks for more time (S(WTX)) before each answer.
  public var timeExtensions = 0

  /// Whether lengths have four bytes.
  var isExtended: Bool { mappingVersion == 3 && !usesShortControl }

  /// As a DESFire in its NDEF configuration.
  public init() {}
}
