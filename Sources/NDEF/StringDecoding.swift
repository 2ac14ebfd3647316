extension String {
  /// Decodes the bytes from `start` on as UTF-8, strictly; an error has the offset of the first byte that is not.
  init(utf8 bytes: [UInt8], from start: Int) throws(NDEFError) {
    let span = bytes.span.extracting(droppingFirst: start)
    do {
      self = String(copying: try UTF8Span(validating: span))
    } catch {
      let offset = start + error.byteOffsets.lowerBound
      throw NDEFError(.characterEncoding, at: offset, "the text is not valid UTF-8")
    }
  }
}
