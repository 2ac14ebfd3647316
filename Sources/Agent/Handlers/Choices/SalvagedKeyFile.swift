import Settings

/// Reads the valid parts of a key file that may be damaged.
///
/// An invalid line is skipped. If it was the header of a group, the lines below it are skipped too: in the group above
/// they could replace valid entries.
enum SalvagedKeyFile {
  /// Further invalid lines of a file are not named one by one.
  static let mostNamed = 20

  /// Reads a file's text; nil if no part can be read. Of a file larger than `KeyFile.maximumSize`, only the beginning
  /// is used. `problems` receives the errors, which name `path`.
  static func read(_ bytes: [UInt8], _ path: String, _ problems: inout [KeyFileError]) -> KeyFile? {
    var lines = bytes.prefix(KeyFile.maximumSize).split(separator: newline, omittingEmptySubsequences: false)
    if bytes.count > KeyFile.maximumSize {
      problems.append(
        .init(file: path, line: nil, problem: "is larger than 1 MiB; the rest is left out", remedy: "remove some"))
      lines.removeLast()
    }
    for count in 0...mostNamed {
      switch parse(lines, path) {
      case .success(let file): return file
      case .failure(let error) where count < mostNamed:
        problems.append(error)
        guard let line = error.line, lines.indices.contains(line - 1) else { return nil }
        blank(line - 1, &lines)
      case .failure: break
      }
    }
    problems.append(
      .init(
        file: path, line: nil, problem: "has more than \(mostNamed) wrong lines; only what is plainly right counts",
        remedy: "fix these lines"))
    sift(&lines)
    return try? parse(lines, path).get()
  }

  private static let newline = UInt8(ascii: "\n")

  private static func parse(_ lines: [ArraySlice<UInt8>], _ path: String) -> Result<KeyFile, KeyFileError> {
    let bytes = Array(lines.joined(separator: [newline]))
    return Result { () throws(KeyFileError) -> KeyFile in try KeyFile(bytes: bytes, file: path) }
  }

  /// Empties a line, so that the lines below it keep their numbers. If it was a group's header, empties the lines of
  /// the group too.
  private static func blank(_ index: Int, _ lines: inout [ArraySlice<UInt8>]) {
    let line = trimmed(lines[index])
    let brackets = line.prefix { $0 != UInt8(ascii: "=") }.contains { $0 == opening || $0 == closing }
    let wasHeader = line.first == opening || brackets && !line.contains(UInt8(ascii: "="))
    lines[index] = []
    guard wasHeader else { return }
    for next in lines.indices[(index + 1)...] {
      if trimmed(lines[next]).first == opening { return }
      lines[next] = []
    }
  }

  /// Empties all lines that GLib's reader might reject, including some that it would accept.
  private static func sift(_ lines: inout [ArraySlice<UInt8>]) {
    var isInGroup = false
    for index in lines.indices {
      let line = trimmed(lines[index])
      if line.isEmpty { continue }
      if line.contains(0) || String(validating: line, as: UTF8.self) == nil {
        blank(index, &lines)
      } else if line.first == opening {
        let name = line.dropFirst().dropLast()
        let isHeader =
          line.last == closing && !name.isEmpty
          && name.allSatisfy { $0 != opening && $0 != closing && $0 >= 0x20 && $0 != 0x7F }
        if isHeader { isInGroup = true } else { blank(index, &lines) }
      } else if line.first != UInt8(ascii: "#"), !(isInGroup && isEntry(line)) {
        blank(index, &lines)
      }
    }
  }

  private static func isEntry(_ line: ArraySlice<UInt8>) -> Bool {
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return false }
    let written = trimmed(line[..<equals])
    var key = written.prefix { $0 != opening }
    let isLocalised = key.count < written.count
    guard !isLocalised || written.last == closing && written.count > key.count + 2 else { return false }
    // In the first group, GLib accepts no `Encoding` other than UTF-8.
    guard !key.isEmpty, !key.elementsEqual("Encoding".utf8) else { return false }
    key += isLocalised ? written[key.endIndex...].dropFirst().dropLast() : []
    return key.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F
        && (Character(Unicode.Scalar(byte)).isLetter || (0x30...0x39).contains(byte)
          || "-_.@+/".utf8.contains(byte))
    }
  }

  private static let opening = UInt8(ascii: "[")
  private static let closing = UInt8(ascii: "]")

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    var line = line.drop(while: isSpace)
    while let last = line.last, isSpace(last) { line.removeLast() }
    return line
  }
}
