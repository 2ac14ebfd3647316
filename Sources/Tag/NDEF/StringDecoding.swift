extension String {
  /// Decodes the bytes from `start` on as strict UTF-8. The offset of an error is the first invalid byte.
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

extension String {
  /// Decodes the bytes from `start` on as strict UTF-16. A byte order mark gives the byte order; without one it is
  /// big-endian (RTD-Text 1.0, section 3.4). The offset of an error is the first invalid byte.
  init(utf16 bytes: [UInt8], from start: Int) throws(NDEFError) {
    let hasMark = bytes.count - start >= 2
    let mark = hasMark ? (bytes[start], bytes[start + 1]) : (0, 0)
    let isLittleEndian = mark == (0xFF, 0xFE)
    let textStart = isLittleEndian || mark == (0xFE, 0xFF) ? start + 2 : start
    let whole = (bytes.count - textStart) & ~1
    var units: [UInt16] = []
    units.reserveCapacity(whole / 2)
    for offset in stride(from: textStart, to: textStart + whole, by: 2) {
      let (first, second) = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
      units.append(isLittleEndian ? second << 8 | first : first << 8 | second)
    }
    if let index = units.firstUnpairedSurrogate {
      let offset = textStart + 2 * index
      throw NDEFError(.characterEncoding, at: offset, "the text is not valid UTF-16")
    }
    guard textStart + whole == bytes.count else {
      let offset = textStart + whole
      throw NDEFError(.characterEncoding, at: offset, "the text is UTF-16 and ends within a character")
    }
    self = String(decoding: units, as: UTF16.self)
  }
}

extension [UInt16] {
  /// The index of the first surrogate that is not part of a pair.
  fileprivate var firstUnpairedSurrogate: Int? {
    var index = startIndex
    while index < endIndex {
      if UTF16.isLeadSurrogate(self[index]) {
        guard index + 1 < endIndex, UTF16.isTrailSurrogate(self[index + 1]) else { return index }
        index += 2
      } else if UTF16.isTrailSurrogate(self[index]) {
        return index
      } else {
        index += 1
      }
    }
    return nil
  }
}
