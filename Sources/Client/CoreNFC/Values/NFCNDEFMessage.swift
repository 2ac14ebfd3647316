public import Foundation
import NDEF

/// An NDEF message: a list of records (NDEF 1.0, section 2.3.1; iOS 11).
///
/// A message can be changed, so two messages are equal only if they are the same object, as on iOS. Compare their
/// records' types and payloads, or what they are encoded to.
open class NFCNDEFMessage: NSObject, NSSecureCoding {
  /// The longest message that ``init(data:)`` takes: 128 KiB.
  private static let maximumLength = 128 << 10

  /// The records, in their order. A message without records is written as one empty record.
  open var records: [NFCNDEFPayload]

  /// The length of the encoded message in bytes, which is what a tag needs room for (iOS 13).
  ///
  /// It is 0 if the message cannot be encoded, and so cannot be written. There are two reasons:
  ///
  /// - A type or an identifier is longer than 255 bytes.
  /// - A record breaks the rules of its type name format (NDEF 1.0, section 3.2.6).
  open var length: Int { encoded?.count ?? 0 }

  /// Makes a message (iOS 13).
  ///
  /// - Parameter records: the records. Without any, it is the empty message.
  public init(records: [NFCNDEFPayload]) {
    self.records = records
    super.init()
  }

  /// Decodes a message (iOS 13). Chunked records are put together.
  ///
  /// - Parameter data: exactly one encoded message, at most 128 KiB. Nil is returned for anything else, also if bytes
  ///   follow the message.
  public convenience init?(data: Data) {
    guard data.count <= Self.maximumLength, let message = try? NDEFMessage(decoding: Array(data)) else { return nil }
    self.init(message)
  }

  /// Restores a message from an archive.
  public required init?(coder: NSCoder) {
    let classes: [AnyClass] = [NSArray.self, NFCNDEFPayload.self]
    guard let list = coder.decodeObject(of: classes, forKey: Key.records) as? NSArray else { return nil }
    var records: [NFCNDEFPayload] = []
    for element in list {
      guard let record = element as? NFCNDEFPayload else { return nil }
      records.append(record)
    }
    self.records = records
    super.init()
  }

  /// Stores the message with its records.
  open func encode(with coder: NSCoder) {
    coder.encode(NSArray(array: records), forKey: Key.records)
  }

  /// True.
  open class var supportsSecureCoding: Bool { true }

  /// The records, as each describes itself.
  open override var description: String { "[" + records.map(\.description).joined(separator: ", ") + "]" }

  private enum Key {
    static let records = "records"
  }
}

extension NFCNDEFMessage {
  convenience init(_ message: NDEFMessage) {
    self.init(records: message.records.map { NFCNDEFPayload($0) })
  }

  /// The encoded message; nil if it cannot be encoded.
  var encoded: [UInt8]? {
    let records = records
    guard records.contains(where: { $0.chunkSize > 0 }) else {
      let message = records.isEmpty ? NDEFMessage.empty : NDEFMessage(records: records.map(\.record))
      return try? message.encoded()
    }
    var bytes: [UInt8] = []
    for (index, record) in records.enumerated() {
      let isFirst = index == records.startIndex
      let isLast = index == records.index(before: records.endIndex)
      guard let part = record.encoded(isFirst: isFirst, isLast: isLast) else { return nil }
      bytes += part
    }
    return bytes
  }
}

extension NFCNDEFPayload {
  /// The record as a part of a message, in chunks of its own size; nil if it cannot be encoded.
  ///
  /// The encoder has one chunk size for all records of a message, and each record here has its own. So each is encoded
  /// between empty records, of three bytes each, which are then removed.
  fileprivate func encoded(isFirst: Bool, isLast: Bool) -> ArraySlice<UInt8>? {
    let before: [NDEFRecord] = isFirst ? [] : [.empty]
    let after: [NDEFRecord] = isLast ? [] : [.empty]
    let options = NDEFEncodingOptions(chunkSize: chunkSize > 0 ? chunkSize : nil)
    guard let bytes = try? NDEFMessage(records: before + [record] + after).encoded(options) else { return nil }
    return bytes.dropFirst(3 * before.count).dropLast(3 * after.count)
  }
}
