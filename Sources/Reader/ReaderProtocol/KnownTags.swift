package import Names

/// A tag that rests on a reader, as far as the daemon knows. It is not announced again until it has been removed.
package struct KnownTag: Sendable, Hashable {
  /// Its placement. If the process that receives the list found the tag itself, this is that process's own number.
  package let number: UInt64
  /// With the key of the list.
  package let fingerprint: TagFingerprint
  package let technology: TagType
  /// True if the tag may have made a new random UID. A tag of the same technology with another UID may then be this
  /// tag.
  package let mayHaveChanged: Bool
  /// A process or its reader failed while the tag was read. The process then sends it no commands, not even to check
  /// whether it is present.
  package let isSuspect: Bool

  package init(
    number: UInt64, fingerprint: TagFingerprint, technology: TagType, mayHaveChanged: Bool = false,
    isSuspect: Bool = false
  ) {
    self.number = number
    self.fingerprint = fingerprint
    self.technology = technology
    self.mayHaveChanged = mayHaveChanged
    self.isSuspect = isSuspect
  }

  /// Each time the field comes on, so that only its technology identifies the tag.
  ///
  /// Type A: four bytes that begin with 08 (ISO/IEC 14443-3, 6.5.4). Type B: always, because a PUPI does not show
  /// whether it is random (7.9.2). FeliCa: 01FE is a device's NFCID2 (NFC Forum Digital Protocol, SENSF_RES), 02FE a
  /// phone's card emulation (Android's HCE-F).
  package static func mayChange(_ technology: TagType, _ uid: [UInt8]) -> Bool {
    switch technology {
    case .type1, .type5: false
    case .type3: uid.count == 8 && [[0x01, 0xFE], [0x02, 0xFE]].contains(Array(uid.prefix(2)))
    case .type4B: true
    case .type2, .type4A, .mifareClassic, .peer: uid.count == 4 && uid.first == 0x08
    }
  }
}

/// The known tags on a reader: the daemon's list, which it sends to a reader process with each goal.
package struct KnownTags: Sendable, Hashable {
  /// Of all fingerprints.
  package let key: TagFingerprint.Key
  /// At most `ReaderLimits.knownTags`.
  package var tags: [KnownTag]
  /// The process treats all tags that its first polls find as known. The daemon sets this if it cannot know which tags
  /// lie there: after a loan or a reader session, and if a process ended before it confirmed a stop.
  package var includesFirst: Bool

  package init(key: TagFingerprint.Key = .random(), tags: [KnownTag] = [], includesFirst: Bool = false) {
    self.key = key
    self.tags = tags
    self.includesFirst = includesFirst
  }
}

extension FrameWriter {
  mutating func write(_ known: KnownTags) {
    write(known.key.low)
    write(known.key.high)
    write(known.includesFirst)
    write(UInt16(clamping: known.tags.count))
    for tag in known.tags {
      write(tag.number)
      write(tag.fingerprint.value)
      write(text: tag.technology.rawValue, ReaderLimits.technology)
      write(tag.mayHaveChanged)
      write(tag.isSuspect)
    }
  }
}

extension FrameReader {
  mutating func knownTags() throws(ReaderLinkError) -> KnownTags {
    let key = TagFingerprint.Key(low: try integer(UInt64.self), high: try integer(UInt64.self))
    var known = KnownTags(key: key, includesFirst: try boolean())
    for _ in 0..<(try count(ReaderLimits.knownTags, "known tags")) {
      let number = try integer(UInt64.self)
      let fingerprint = TagFingerprint(value: try integer(UInt64.self))
      let technology = try technology()
      let mayHaveChanged = try boolean()
      known.tags.append(
        KnownTag(
          number: number, fingerprint: fingerprint, technology: technology, mayHaveChanged: mayHaveChanged,
          isSuspect: try boolean()))
    }
    return known
  }
}

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

    package init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

    /// From getrandom(2).
    package static func random() -> Key {
      Key(low: .random(in: .min ... .max), high: .random(in: .min ... .max))
    }
  }

  package let value: UInt64

  package init(value: UInt64) { self.value = value }

  /// With the key of the list that the fingerprint belongs to.
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
