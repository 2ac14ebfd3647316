import Bus
import Handlers
import NDEF
import Routing

/// The checked argument of `ResolveTag`: a tag that need not exist.
struct TagQuestion {
  let facts: TapFacts

  /// Reads the keys that the interface documents, and ignores others. The error names the key.
  init(_ values: [String: Value]) throws(BusError) {
    func value<Result>(_ key: String, _ read: (Value) -> Result?) throws(BusError) -> Result? {
      guard let value = values[key] else { return nil }
      guard let result = read(value) else { throw .invalidArgument("\(key) has another type") }
      return result
    }
    let uid = try value("uid", \.asBytes) ?? []
    guard uid.count <= 10 else { throw .invalidArgument("uid is longer than 10 bytes") }
    let technology = try value("technology", \.asString) ?? ""
    let reader = try value("reader", \.asString) ?? ""
    guard technology.utf8.count <= 32, reader.utf8.count <= 255 else {
      throw .invalidArgument("technology is longer than 32 bytes, or reader is longer than 255")
    }
    let bytes = try value("message", \.asBytes)
    guard (bytes ?? []).count <= TagReading.maximumMessage else {
      throw .invalidArgument("message must be at most 1 MiB of bytes")
    }
    var message: NDEFMessage?
    if let bytes {
      do throws(NDEFError) { message = try NDEFMessage(decoding: bytes) } catch {
        throw .invalidArgument("message is not NDEF: \(error.description)")
      }
    }
    facts = TapFacts(
      uid: uid, technology: technology, reader: reader, message: message,
      digest: bytes.map(MessageDigest.sha256) ?? "")
  }
}
