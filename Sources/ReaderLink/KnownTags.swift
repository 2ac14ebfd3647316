/// A tag that lies on a reader, as far as anyone knows, and is not announced until it was away.
public struct KnownTag: Sendable, Hashable {
  /// Its stay. What the process that is told of it has found itself has that process's own number.
  public let number: UInt64
  /// Of its kind and its UID, with the key of the list.
  public let fingerprint: TagFingerprint
  /// What kind of tag it is: `type-4b`.
  public let technology: String
  /// Whether another tag of its kind that makes up its UID may be this one: a random UID is a new one by now.
  public let mayHaveChanged: Bool
  /// Whether a process or its reader failed while the tag was read: nothing is sent to it, not even to see whether it
  /// is there.
  public let isSuspect: Bool

  /// - Parameters:
  ///   - number: its stay.
  ///   - fingerprint: of its kind and its UID.
  ///   - technology: what kind of tag it is.
  ///   - mayHaveChanged: whether another tag of its kind that makes up its UID may be this one.
  ///   - isSuspect: whether nothing may be sent to it.
  public init(
    number: UInt64, fingerprint: TagFingerprint, technology: String, mayHaveChanged: Bool = false,
    isSuspect: Bool = false
  ) {
    self.number = number
    self.fingerprint = fingerprint
    self.technology = technology
    self.mayHaveChanged = mayHaveChanged
    self.isSuspect = isSuspect
  }

  /// Whether a tag may have another UID each time the field comes on, so that it is known by its kind.
  ///
  /// Type A: four bytes that begin with 08 (ISO/IEC 14443-3, 6.5.4). Type B: any, since nothing in a PUPI says
  /// whether it was made up (7.9.2). FeliCa: 01FE is a device's NFCID2 (NFC Forum Digital Protocol, SENSF_RES), 02FE
  /// a phone's card emulation (Android's HCE-F).
  public static func mayChange(_ technology: String, _ uid: [UInt8]) -> Bool {
    switch technology {
    case "type-1": false
    case "type-3": uid.count == 8 && [[0x01, 0xFE], [0x02, 0xFE]].contains(Array(uid.prefix(2)))
    case "type-4b": true
    default: uid.count == 4 && uid.first == 0x08
    }
  }
}

/// What is known of the tags on a reader: the daemon's list, which goes to a reader process with each goal.
public struct KnownTags: Sendable, Hashable {
  /// The key of all fingerprints.
  public let key: TagFingerprint.Key
  /// At most `ReaderLimits.knownTags`.
  public var tags: [KnownTag]
  /// Whether the process takes what its first looks find for known, because no one knows what lies there: after a
  /// loan or a reader session, and if a process ended before it confirmed a stop.
  public var includesFirst: Bool

  /// - Parameters:
  ///   - key: the key of all fingerprints.
  ///   - tags: at most `ReaderLimits.knownTags`.
  ///   - includesFirst: whether the process takes what its first looks find for known.
  public init(key: TagFingerprint.Key = .random(), tags: [KnownTag] = [], includesFirst: Bool = false) {
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
    write(UInt8(clamping: known.tags.count))
    for tag in known.tags {
      write(tag.number)
      write(tag.fingerprint.value)
      write(text: tag.technology, ReaderLimits.technology)
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
