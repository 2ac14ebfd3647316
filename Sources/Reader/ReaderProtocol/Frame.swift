import Names

/// The limits of messages between the daemon and a reader process.
package enum ReaderLimits {
  /// Bytes of an NDEF message.
  package static let message = 1 << 20
  /// Bytes that are no NDEF message, of a tag with damaged contents.
  package static let damagedContents = 4096
  /// Bytes of a frame, without its length field.
  package static let frame = message + 4096
  /// Bytes of a reason, a name or a log line.
  package static let text = 1024
  /// Bytes of a UID (ISO/IEC 14443-3 allows 4, 7 and 10).
  package static let uid = 10
  /// Tags on a reader that are tracked at the same time. Fewer fit into a field.
  package static let tags = 8
  /// Known tags that the daemon names to a process: those of former processes and those that this process found.
  package static let knownTags = 2 * tags
  /// The number of consecutive reader failures, during reads of one tag, after which the failure becomes the tag's
  /// result. Applies within one process, and across all processes of a reader.
  package static let interruptions = 3
  /// Bytes of a technology's name.
  package static let technology = 32
  /// Application identifiers that a reader session may name.
  package static let applications = 512
  /// Bytes of an application identifier (ISO/IEC 7816-4, 12.2.3: a registered provider, and up to 11 more bytes).
  package static let applicationIdentifier = 5...16
  /// System codes that a reader session may name.
  package static let systemCodes = 64
  /// Historical bytes in an answer to select, which has at most 254 bytes.
  package static let historicalBytes = 254
  /// Bytes of a command for a tag: an APDU of extended length (ISO/IEC 7816-4, 5.2), header, Lc, data and Le.
  package static let command = 4 + 3 + 65_535 + 2
  /// Bytes of a tag's answer: an APDU's data of at most 65,536 bytes and its status word.
  package static let answer = 65_536 + 2
}

/// An error of the link: the received data are not a valid message, or the other end is gone.
package struct ReaderLinkError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A phrase, for example "a frame of 0 bytes". It completes "it sent …" unless the throwing method says otherwise.
  package let description: String

  /// The frame has another version of the protocol. The two programs then belong to different installations, and
  /// another process of the same program would not help.
  package let isOtherVersion: Bool

  package init(_ description: String, isOtherVersion: Bool = false) {
    self.description = description
    self.isOtherVersion = isOtherVersion
  }
}

// A frame consists of the length of the rest (4 bytes), the version (1 byte), the kind (1 byte) and the fields of that
// kind. Integers are in network byte order. Byte strings and UTF-8 texts follow their length (4 bytes).
// Versions are not compatible, because both programs come from one package. A change of a message must raise the
// version. If a daemon starts a reader process of another version, its error says what to do.
package let frameVersion: UInt8 = 8

struct FrameWriter {
  private var fields: [UInt8]

  init(kind: UInt8) { fields = [frameVersion, kind] }

  var frame: [UInt8] { Self.bigEndian(UInt32(clamping: fields.count)) + fields }

  mutating func write(_ value: Bool) { fields.append(value ? 1 : 0) }

  mutating func write(_ value: some FixedWidthInteger) { fields += Self.bigEndian(value) }

  mutating func write(bytes: [UInt8]) {
    write(UInt32(clamping: bytes.count))
    fields += bytes
  }

  /// As many whole Unicode scalars as fit into `limit` bytes.
  mutating func write(text: String, _ limit: Int) {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      let encoded = UTF8.encode(scalar).map(Array.init) ?? []
      guard bytes.count + encoded.count <= limit else { break }
      bytes += encoded
    }
    write(bytes: bytes)
  }

  mutating func write(_ placement: Placement) {
    write(placement.number)
    write(text: placement.technology.rawValue, ReaderLimits.technology)
    write(bytes: placement.uid)
  }

  private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}

/// Without its length field. Every byte sequence either decodes or throws.
struct FrameReader {
  let kind: UInt8
  private var rest: ArraySlice<UInt8>

  init(_ payload: ArraySlice<UInt8>) throws(ReaderLinkError) {
    let header = Array(payload.prefix(2))
    guard header.count == 2 else { throw ReaderLinkError("a frame of \(payload.count) bytes") }
    guard header[0] == frameVersion else {
      throw ReaderLinkError("a frame of version \(header[0]) instead of \(frameVersion)", isOtherVersion: true)
    }
    kind = header[1]
    rest = payload.dropFirst(2)
  }

  mutating func integer<T: FixedWidthInteger>(_: T.Type) throws(ReaderLinkError) -> T {
    let size = T.bitWidth / 8
    guard rest.count >= size else { throw ReaderLinkError("a frame that ends in the middle of a number") }
    let value = rest.prefix(size).reduce(T.zero) { $0 << 8 | T(truncatingIfNeeded: $1) }
    rest = rest.dropFirst(size)
    return value
  }

  mutating func boolean() throws(ReaderLinkError) -> Bool {
    switch try integer(UInt8.self) {
    case 0: return false
    case 1: return true
    case let other: throw ReaderLinkError("a truth value of \(other)")
    }
  }

  mutating func bytes(_ allowed: ClosedRange<Int>, _ what: String) throws(ReaderLinkError) -> [UInt8] {
    let count = Int(try integer(UInt32.self))
    guard allowed.contains(count) else { throw ReaderLinkError("\(what) of \(count) bytes") }
    guard rest.count >= count else { throw ReaderLinkError("a frame that ends in the middle of \(what)") }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func text(_ limit: Int) throws(ReaderLinkError) -> String {
    let bytes = try bytes(0...limit, "a text")
    guard let text = String(validating: bytes, as: UTF8.self) else { throw ReaderLinkError("a text that is not UTF-8") }
    return text
  }

  mutating func placement() throws(ReaderLinkError) -> Placement {
    let number = try integer(UInt64.self)
    let technology = try technology()
    return Placement(number: number, technology: technology, uid: try bytes(0...ReaderLimits.uid, "a UID"))
  }

  mutating func technology() throws(ReaderLinkError) -> TagType {
    guard let technology = TagType(rawValue: try text(ReaderLimits.technology)) else {
      throw ReaderLinkError("an unknown technology")
    }
    return technology
  }

  /// Fails if bytes remain after the last field.
  func end() throws(ReaderLinkError) {
    guard rest.isEmpty else { throw ReaderLinkError("a frame with \(rest.count) bytes too many") }
  }
}

package struct FrameDecoder: Sendable {
  private var buffer: [UInt8] = []
  private var start = 0

  package init() {}

  package mutating func append(_ bytes: some Sequence<UInt8>) {
    if start > 0 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Without its length; nil if more bytes are needed. Fails if the length is below 2 or above `ReaderLimits.frame`.
  /// The rest of the stream cannot be read then.
  package mutating func next() throws(ReaderLinkError) -> ArraySlice<UInt8>? {
    let available = buffer[start...]
    guard available.count >= 4 else { return nil }
    let length = available.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    guard (2...ReaderLimits.frame).contains(length) else { throw ReaderLinkError("a frame of \(length) bytes") }
    guard available.count >= 4 + length else { return nil }
    start += 4 + length
    return available.dropFirst(4).prefix(length)
  }
}
