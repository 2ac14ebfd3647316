/// The first byte of a record: five flags and the type name format (NDEF 1.0, section 3.2).
struct RecordHeader: OptionSet {
  let rawValue: UInt8

  /// MB: the record is the first of its message.
  static let messageBegin = RecordHeader(rawValue: 0x80)
  /// ME: the record is the last of its message.
  static let messageEnd = RecordHeader(rawValue: 0x40)
  /// CF: the payload continues in the next record.
  static let chunk = RecordHeader(rawValue: 0x20)
  /// SR: the payload length field has one byte instead of four.
  static let shortRecord = RecordHeader(rawValue: 0x10)
  /// IL: the record has an id and an id length field.
  static let idLength = RecordHeader(rawValue: 0x08)

  /// The low three bits. The reserved value 7 means ``TypeNameFormat/unknown`` (section 3.2.6).
  var typeNameFormat: TypeNameFormat { TypeNameFormat(rawValue: rawValue & 0x07) ?? .unknown }
}
