package import ReaderProtocol
package import Tags

/// Recognizing a tag that the daemon knows.
extension KnownTag {
  /// Whether it identifies this tag. `key` is the key of the list.
  package func identifies(_ tag: TagActivation, _ key: TagFingerprint.Key) -> Bool {
    fingerprint == TagFingerprint(tag.type, tag.identifier, key)
  }

  /// Whether it may be this tag with another random identifier.
  package func mayBe(_ tag: TagActivation) -> Bool {
    mayHaveChanged && technology == tag.type && tag.mayChangeIdentifier
  }
}
