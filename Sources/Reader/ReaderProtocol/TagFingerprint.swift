package import Names

/// A keyed hash of a tag's technology and UID: SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF",
/// 2012).
///
/// With the key, all UIDs can be tried. The hash only keeps plain UIDs out of a file and of a memory dump.
package struct TagFingerprint: Sendable, Hashable {
  /// 128 random bits. Fingerprints with different keys cannot be compared.
  package struct Key: Sendable, Hashable {
    /// The first eight bytes, the lowest first.
    package let low: UInt64
    /// The other eight bytes.
    package let high: UInt64

    /// An existing key.
    package init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

    /// A new random key. The system's generator is getrandom(2).
    package static func random() -> Key {
      Key(low: .random(in: .min ... .max), high: .random(in: .min ... .max))
    }
  }

  /// The hash.
  package let value: UInt64

  /// An existing fingerprint.
  package init(value: UInt64) { self.value = value }

  /// The hash of a tag's technology and UID, with the key of the list that the fingerprint belongs to.
  package init(_ technology: TagType, _ uid: [UInt8], _ key: Key) {
    self.init(value: Self.hash(Array(technology.rawValue.utf8) + [0] + uid, key))
  }

  static func hash(_ bytes: [UInt8], _ key: Key) -> UInt64 {
    var v: (UInt64, UInt64, UInt64, UInt64) = (
      key.low ^ 0x736f_6d65_7073_6575, key.high ^ 0x646f_7261_6e64_6f6d,
      key.low ^ 0x6c79_6765_6e65_7261, key.high ^ 0x7465_6462_7974_6573
    )
    func round() {
      v.0 &+= v.1
      v.2 &+= v.3
      v.1 = rotate(v.1, 13) ^ v.0
      v.3 = rotate(v.3, 16) ^ v.2
      v.0 = rotate(v.0, 32)
      v.2 &+= v.1
      v.0 &+= v.3
      v.1 = rotate(v.1, 17) ^ v.2
      v.3 = rotate(v.3, 21) ^ v.0
      v.2 = rotate(v.2, 32)
    }
    // Eight bytes at a time, the lowest first. The last word also holds the length, in its highest byte.
    for start in stride(from: 0, through: bytes.count, by: 8) {
      var word = bytes[start...].prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
      if start + 8 > bytes.count { word |= UInt64(bytes.count & 0xFF) << 56 }
      v.3 ^= word
      round()
      round()
      v.0 ^= word
    }
    v.2 ^= 0xFF
    for _ in 1...4 { round() }
    return v.0 ^ v.1 ^ v.2 ^ v.3
  }

  private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
}
