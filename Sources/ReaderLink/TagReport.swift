/// One stay of one tag on a reader, from its arrival to its removal.
public struct Placement: Sendable, Hashable {
  /// Distinguishes this stay from every other one on the same reader, also over restarts of the reader process.
  public let number: UInt64
  /// What kind of tag it is: `type-2`, `type-4a`, or `unknown` before that is known.
  public let technology: String
  /// The tag's UID as it was read, 4, 7 or 10 bytes for Type A. Not an identity: four bytes that begin with 08 are
  /// random and new each time.
  public let uid: [UInt8]

  /// - Parameters:
  ///   - number: distinguishes this stay from every other one on the same reader.
  ///   - technology: `type-2`, `type-4a`, ….
  ///   - uid: the tag's UID.
  public init(number: UInt64, technology: String, uid: [UInt8]) {
    self.number = number
    self.technology = technology
    self.uid = uid
  }
}

/// What was found on a tag, once a placement.
public struct TagReport: Sendable, Hashable {
  /// What a tag holds, or why that cannot be said.
  public enum Content: Sendable, Hashable {
    /// An NDEF message, whole and decodable.
    case message([UInt8])
    /// No message; the reason in words that a person can read.
    case problem(reason: String)
  }

  /// The stay of the tag that this is about.
  public let placement: Placement
  /// What the tag holds.
  public let content: Content

  /// - Parameters:
  ///   - placement: the stay of the tag that this is about.
  ///   - content: what the tag holds.
  public init(placement: Placement, content: Content) {
    self.placement = placement
    self.content = content
  }
}
