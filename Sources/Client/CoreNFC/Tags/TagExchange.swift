/// One command for a tag, and how its answer is read. A pure value, so a test needs no tag.
struct TagExchange<Answer: Sendable>: Sendable {
  /// The bytes for `ReaderTag.transceive`.
  var command: [UInt8]
  /// How long the tag may take.
  var timeout: Duration = .seconds(1)
  /// Reads the answer. Throws `NFCReaderError` if it has a wrong form.
  var read: @Sendable ([UInt8]) throws -> Answer
}
