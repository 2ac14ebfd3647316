/// What no message between the daemon and a reader process exceeds.
public enum ReaderLimits {
  /// Bytes of an NDEF message.
  public static let message = 1 << 20
  /// Bytes of a frame without its length.
  public static let frame = message + 4096
  /// Bytes of a reason, a name or a log line.
  public static let text = 1024
  /// Bytes of a UID (ISO/IEC 14443-3 allows 4, 7 and 10).
  public static let uid = 10
  /// Tags that rest on a reader at a time, as far as anybody keeps track of them. Fewer fit into a field.
  public static let tags = 8
  /// Tags that a process is told of: those of former processes and its own.
  public static let knownTags = 2 * tags
  /// How often in a row a reader may fail while a tag is read until that counts as what came of it: within one process, and over all.
  public static let interruptions = 3
  /// Bytes of a technology's name.
  public static let technology = 32
  /// Technologies that a reader session may name.
  public static let technologies = 8
  /// Application identifiers that a reader session may name.
  public static let applications = 16
  /// Bytes of an application identifier (ISO/IEC 7816-4, 12.2.3: a registered provider, and up to 11 bytes more).
  public static let applicationIdentifier = 5...16
  /// System codes that a reader session may name.
  public static let systemCodes = 8
  /// Historical bytes of an answer to select, which has at most 254 bytes.
  public static let historicalBytes = 254
  /// Bytes of a command for a tag: an APDU of extended length (ISO/IEC 7816-4, 5.2), header, Lc, data and Le.
  public static let command = 4 + 3 + 65_535 + 2
  /// Bytes of a tag's answer: an APDU's data of at most 65,536 bytes and its status word.
  public static let answer = 65_536 + 2
}

/// What came over the link is not a message: what it was instead.
public struct ReaderLinkError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What came instead of a message.
  public let description: String

  /// Whether it is of another version of this protocol: then the two programs are of two installations, and no other process of
  /// the same program would do better.
  public let isOtherVersion: Bool

  /// - Parameters:
  ///   - description: what came instead of a message.
  ///   - isOtherVersion: whether it is of another version of this protocol.
  public init(_ description: String, isOtherVersion: Bool = false) {
    self.description = description
    self.isOtherVersion = isOtherVersion
  }
}

// A frame is the length of what follows (4 bytes), the version (1 byte), the kind (1 byte) and the fields of that kind:
// integers in network order, byte strings and UTF-8 texts with a length of 4 bytes before them.
// Between two versions nothing is understood, since both programs are of one package: an update that changes a message raises it,
// and a daemon that starts a reader process of another one says what to do.
private let frameVersion: UInt8 = 2

/// Builds one frame.
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

  /// Writes as many whole characters as `limit` bytes hold.
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
    write(text: placement.technology, ReaderLimits.technology)
    write(bytes: placement.uid)
  }

  private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}

/// Takes one frame apart, without its length. Any bytes either decode or throw.
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

  mutating func technology() throws(ReaderLinkError) -> String {
    let technology = try text(ReaderLimits.technology)
    guard !technology.isEmpty, technology.utf8.allSatisfy({ $0 == 0x2D || (0x30...0x39) ~= $0 || (0x61...0x7A) ~= $0 })
    else { throw ReaderLinkError("a technology that is not a name") }
    return technology
  }

  /// - Throws: where fields remain.
  func end() throws(ReaderLinkError) {
    guard rest.isEmpty else { throw ReaderLinkError("a frame with \(rest.count) bytes too many") }
  }
}

/// Cuts a stream of bytes into frames.
public struct FrameDecoder: Sendable {
  private var buffer: [UInt8] = []
  private var start = 0

  /// Starts at the beginning of a frame.
  public init() {}

  /// Takes bytes as they came.
  public mutating func append(_ bytes: some Sequence<UInt8>) {
    if start > 0 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next whole frame without its length; nil where more bytes are needed.
  ///
  /// - Throws: `ReaderLinkError` where the length is beyond `ReaderLimits.frame`; nothing after it can be read.
  public mutating func next() throws(ReaderLinkError) -> ArraySlice<UInt8>? {
    let available = buffer[start...]
    guard available.count >= 4 else { return nil }
    let length = available.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    guard (2...ReaderLimits.frame).contains(length) else { throw ReaderLinkError("a frame of \(length) bytes") }
    guard available.count >= 4 + length else { return nil }
    start += 4 + length
    return available.dropFirst(4).prefix(length)
  }
}
