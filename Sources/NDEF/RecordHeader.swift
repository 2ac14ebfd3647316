/// The first byte of a record: five flags and the type name format (NDEF 1.0, section 3.2).
struct RecordHeader: OptionSet {
  let rawValue: UInt8

  /// MB: the record is the first of its message.
  static let messageBegin = RecordHeader(rawValue: 0x80)
  /// ME: the record is the last of its message.
  static let messageEnd = RecordHeader(rawValue: 0x40)
  /// CF: the payload goes on in the next record.
  static let chunk = RecordHeader(rawValue: 0x20)
  /// SR: the length of the payload has one byte, not four.
  static let shortRecord = RecordHeader(rawValue: 0x10)
  /// IL: there is an id, and a length of it.
  static let idLength = RecordHeader(rawValue: 0x08)

  /// The three bits that are no flags; the reserved value 7 means ``TypeNameFormat/unknown`` (section 3.2.6).
  var typeNameFormat: TypeNameFormat { TypeNameFormat(rawValue: rawValue & 0x07) ?? .unknown }
}
