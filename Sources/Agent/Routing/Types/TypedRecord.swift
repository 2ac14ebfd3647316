package import NDEF

/// The record of a message that decides if there is no link: the first one with a media type or an external type.
package struct TypedRecord: Sendable, Hashable {
  /// The number of the record in the message, from 1.
  package let number: Int
  /// The type.
  package let type: RecordType

  /// The record's payload in the message of the same tap; nil if the message is another.
  package func payload(in message: NDEFMessage) -> [UInt8]? {
    guard message.records.indices.contains(number - 1) else { return nil }
    let record = message.records[number - 1]
    return RecordType(record) == type ? record.payload : nil
  }

  /// The results of looking for the record.
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
