/// The known part of a tag's memory, by byte address.
struct TagMemory {
  private var bytes: [UInt8?]

  init(size: Int) { bytes = [UInt8?](repeating: nil, count: size) }

  /// Nil if the byte is unknown or the address is out of range.
  subscript(address: Int) -> UInt8? { bytes.indices.contains(address) ? bytes[address] : nil }

  /// Stores bytes. Bytes that are out of range are ignored.
  mutating func learn(_ new: some Sequence<UInt8>, at start: Int) {
    for (offset, byte) in new.enumerated() where bytes.indices.contains(start + offset) {
      bytes[start + offset] = byte
    }
  }

  /// The known bytes at these addresses, in the order of the addresses.
  func known(at addresses: some Sequence<Int>) -> [UInt8] { addresses.compactMap { self[$0] } }
}
