/// The name by which pcscd knows a reader. It comes from the driver or from the device, so it may have any bytes.
struct ReaderName: Hashable, Sendable {
  /// The name without its terminator.
  let bytes: [UInt8]

  /// The name as text. Bytes that are not UTF-8, and control characters, are replaced.
  var text: String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.unicodeScalars.contains(where: Self.isControl) else { return text }
    return String(
      String.UnicodeScalarView(text.unicodeScalars.map { Self.isControl($0) ? "\u{FFFD}" : $0 }))
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// The name for C.
  var terminated: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

  /// The names in a list of terminated strings, which an empty string ends (`SCardListReaders`).
  static func all(in list: some Sequence<UInt8>) -> [ReaderName] {
    var names: [ReaderName] = []
    var bytes: [UInt8] = []
    for byte in list {
      guard byte == 0 else {
        bytes.append(byte)
        continue
      }
      if bytes.isEmpty { break }
      names.append(ReaderName(bytes: bytes))
      bytes = []
    }
    return names
  }
}
