import Bus
import Names

/// The data about a tag that a handler gets beside the message. An app that gets the link alone gets none of it.
package struct TagDetails: Sendable, Hashable {
  private let uid: [UInt8]
  /// For example `type-2`; empty if it is unknown.
  package let technology: String
  private let reader: String
  private let time: UInt64

  /// Omits an empty or invalid UID, technology or reader. They become environment variables of a started program.
  ///
  /// - Parameters:
  ///   - uid: the tag's UID.
  ///   - technology: for example `type-2`.
  ///   - reader: the reader's object path at the daemon.
  ///   - time: when the tag was read, in microseconds since 1970-01-01 00:00 UTC.
  package init(uid: [UInt8], technology: String, reader: String, time: UInt64) {
    self.uid = uid.count <= UIDText.lengths.upperBound ? uid : []
    self.technology = Names.Handler.isTechnology(technology) ? technology : ""
    self.reader = Names.Handler.isReader(reader) ? reader : ""
    self.time = time
  }

  /// The keys of `platform_data`.
  var platformData: [String: Value] {
    var data: [String: Value] = [Names.Handler.timeKey: .uint64(time)]
    if !uid.isEmpty { data[Names.Handler.uidKey] = .bytes(uid) }
    if !technology.isEmpty { data[Names.Handler.technologyKey] = .string(technology) }
    if !reader.isEmpty { data[Names.Handler.readerKey] = .string(reader) }
    return data
  }

  /// The variables of a started program.
  var environment: [String: String] {
    var variables = [Names.Handler.Variable.time: String(time)]
    if !uid.isEmpty { variables[Names.Handler.Variable.uid] = UIDText.text(uid) }
    if !technology.isEmpty { variables[Names.Handler.Variable.technology] = technology }
    if !reader.isEmpty { variables[Names.Handler.Variable.reader] = reader }
    return variables
  }
}
