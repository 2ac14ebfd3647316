/// A read position in a byte array. It never moves past the end.
struct ByteReader {
  let bytes: [UInt8]
  private(set) var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var remaining: Int { bytes.count - position }

  mutating func readByte(_ what: StaticString) throws(NDEFError) -> UInt8 {
    guard position < bytes.count else {
      throw NDEFError(.truncated, at: position, "the message ends where \(what) should be")
    }
    defer { position += 1 }
    return bytes[position]
  }

  /// Four bytes, most significant first.
  mutating func readUInt32(_ what: StaticString) throws(NDEFError) -> UInt32 {
    guard remaining >= 4 else {
      throw NDEFError(.truncated, at: position, "the message ends where \(what) should be")
    }
    defer { position += 4 }
    return bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  mutating func read(_ count: UInt32, _ what: StaticString) throws(NDEFError) -> ArraySlice<UInt8> {
    // Compared as UInt32, because the length may not fit into an Int on every platform.
    guard count <= UInt32(clamping: remaining) else {
      throw NDEFError(.truncated, at: position, "\(what) is longer than what is left of the message")
    }
    let end = position + Int(count)
    defer { position = end }
    return bytes[position..<end]
  }
}
