package import Names

/// One placement of a tag on a reader, from its arrival to its removal.
package struct Placement: Sendable, Hashable {
  /// Distinguishes this placement from every other one on the same reader, also across restarts of the reader process.
  package let number: UInt64
  /// The tag's technology.
  package let technology: TagType
  /// The tag's UID as read, 4, 7 or 10 bytes for Type A. It is not an identity: four bytes that begin with 08 are
  /// random and new each time.
  package let uid: [UInt8]

  /// A placement with these properties.
  package init(number: UInt64, technology: TagType, uid: [UInt8]) {
    self.number = number
    self.technology = technology
    self.uid = uid
  }
}

/// The result of reading a tag, once per placement.
package struct TagReport: Sendable, Hashable {
  /// The contents of a tag, or why they cannot be read.
  package enum Content: Sendable, Hashable {
    /// An NDEF message, complete and decodable.
    case message([UInt8])
    /// The tag was read well enough to know that it has no NDEF message: it is blank, not formatted, a card for payment or
    /// transit, or a tag of which the reader can only tell the UID. The reason is for a person.
    case bare(reason: String)
    /// The tag was read more than once, and its contents contradict each other: the bytes that are no message, as far as
    /// they are known. The reason is for a person.
    case damaged(reason: String, contents: [UInt8])
    /// The tag could not be read. The reason is for a person.
    case problem(reason: String)
  }

  /// The placement that this report is about.
  package let placement: Placement
  /// The contents of the tag.
  package let content: Content

  /// A report with these properties.
  package init(placement: Placement, content: Content) {
    self.placement = placement
    self.content = content
  }
}
