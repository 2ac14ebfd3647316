/// One reading of a tag. The daemon sends it to the agent, which stores and shows it; clients get it from the inbox.
///
/// Its contents are untrusted. The message is well-formed, but what its records hold is not checked.
public struct TagRead: Sendable, Hashable {
  /// The daemon's UUID for this reading (RFC 9562).
  public let id: String
  /// When the tag was read, in microseconds since 1970-01-01 00:00 UTC.
  public let time: UInt64
  /// The reader's object path at the daemon; at most 255 bytes.
  public let reader: String
  /// The technology, for example `type-2`; at most 32 bytes.
  public let technology: String
  /// The tag's UID, at most 10 bytes; empty for a tag without one. One that starts with 08 is random (NFC Forum, Digital
  /// Protocol).
  public let uid: [UInt8]
  /// The NDEF message as it is on the tag; empty for a tag without one. Of a damaged tag, the bytes that are no message.
  public let bytes: [UInt8]
  /// The message; nil if the tag has none, or is damaged.
  public let message: NDEFMessage?
  /// Why the contents of the tag are damaged; empty if they are not.
  public let damage: String

  /// The longest message, in bytes.
  package static let maximumMessage = 1 << 20
  /// The longest ``damage``, in Unicode scalars.
  private static let maximumDamage = 500

  /// Decodes the bytes. `damage` is why the reader calls the contents damaged; bytes that are a message are not.
  package init(
    id: String, time: UInt64, reader: String, technology: String, uid: [UInt8], bytes: [UInt8], damage: String = ""
  ) {
    (self.id, self.time, self.reader, self.technology, self.uid, self.bytes) = (
      id, time, reader, technology, uid, bytes
    )
    do throws(NDEFError) {
      message = try bytes.isEmpty ? nil : NDEFMessage(decoding: bytes)
      self.damage = message == nil ? Self.line(damage) : ""
    } catch {
      message = nil
      self.damage = damage.isEmpty ? Self.words(error) : Self.line(damage)
    }
  }

  /// Why bytes from a tag are no message; empty if they are one, and if there are none.
  package static func damage(of bytes: [UInt8]) -> String {
    do throws(NDEFError) {
      if !bytes.isEmpty { _ = try NDEFMessage(decoding: bytes) }
      return ""
    } catch {
      return words(error)
    }
  }

  private static func words(_ error: NDEFError) -> String { "the message is not NDEF: \(error)" }

  private static func line(_ damage: String) -> String {
    String(String.UnicodeScalarView(damage.unicodeScalars.prefix(maximumDamage)))
  }

  /// A reading that need not exist. Everything that is left out is unknown.
  package init(
    uid: [UInt8] = [], technology: String = "", reader: String = "", message: NDEFMessage? = nil
  ) {
    (id, time, bytes, damage) = ("", 0, [], "")
    (self.uid, self.technology, self.reader, self.message) = (uid, technology, reader, message)
  }

  /// Whether the tag has no NDEF message. Then there is nothing to open, but a rule may know the tag by its UID.
  package var isBare: Bool { bytes.isEmpty && message == nil && damage.isEmpty }

  /// The same reading without the message, for what outlives the tap.
  package var withoutContents: TagRead {
    TagRead(id: id, time: time, reader: reader, technology: technology, uid: uid, bytes: [])
  }
}

extension TagRead: CustomStringConvertible {
  /// For logs: without the message and the UID.
  public var description: String {
    "tap \(id) (\(technology), \(bytes.isEmpty ? "no message" : "message of \(bytes.count) bytes"))"
  }
}
