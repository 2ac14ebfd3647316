package import Bus
package import NDEF
import Names

/// The argument of `org.tagroute.Tagroute1.Agent.TagRead`.
extension TagRead {
  /// Checks the keys that the interface documents, and ignores others. Without a valid time, it is `now`.
  ///
  /// - Throws: `org.tagroute.Error.InvalidArgument`, which names the key.
  package init(_ values: [String: Value], now: UInt64) throws(BusError) {
    func invalid(_ message: String) -> BusError { BusError(name: Names.Errors.invalidArgument, message: message) }
    guard let id = values["id"]?.asString, Names.Handler.isTapID(id) else { throw invalid("id must be a UUID") }
    guard let bytes = values["message"]?.asBytes, bytes.count <= Self.maximumMessage else {
      throw invalid("message must be at most 1 MiB of bytes")
    }
    let technology = values["technology"]?.asString ?? ""
    guard technology.utf8.count <= 32 else { throw invalid("technology is longer than 32 bytes") }
    let uid = values["uid"]?.asBytes ?? []
    guard uid.count <= UIDText.lengths.upperBound else { throw invalid("uid is longer than 10 bytes") }
    let reader = values["reader"]?.asString ?? values["reader"]?.asObjectPath?.string ?? ""
    guard reader.utf8.count <= 255 else { throw invalid("reader is longer than 255 bytes") }
    self.init(
      id: id, time: values["time"]?.asUInt64.flatMap { Int64(exactly: $0) }.map(UInt64.init) ?? now, reader: reader,
      technology: technology, uid: uid, bytes: bytes, damage: values["damage"]?.asString ?? "")
  }
}
