import NDEF
import Routing

/// A record of a type that no app opens. Its notification shows the type and the size, and how to save it.
struct TagData: Sendable, Hashable {
  /// The number of the record in the message, from 1.
  let record: Int
  /// The size of its payload in bytes.
  let bytes: Int

  /// Nil if the route has no such record.
  init?(_ route: Route, _ message: NDEFMessage?) {
    guard let record = route.unopenedRecord, let payload = message.flatMap(record.payload) else { return nil }
    (self.record, bytes) = (record.number, payload.count)
  }

  /// The size in bytes, or rounded to kilobytes, with the symbol of the unit.
  var size: String { bytes < 1000 ? "\(bytes) B" : "\((bytes + 500) / 1000) kB" }
}
