/// The memory of a tag as far as it is known, by byte address.
struct TagMemory {
  private var bytes: [UInt8?]

  /// - Parameter size: bytes that can be known.
  init(size: Int) { bytes = [UInt8?](repeating: nil, count: size) }

  /// Nil where the byte is not known, or lies outside.
  subscript(address: Int) -> UInt8? { bytes.indices.contains(address) ? bytes[address] : nil }

  /// Takes note of bytes; what lies outside is left out.
  mutating func learn(_ new: some Sequence<UInt8>, at start: Int) {
    for (offset, byte) in new.enumerated() where bytes.indices.contains(start + offset) {
      bytes[start + offset] = byte
    }
  }

  /// - Returns: what is known at these addresses, in their order.
  func known(at addresses: some Sequence<Int>) -> [UInt8] { addresses.compactMap { self[$0] } }
}
