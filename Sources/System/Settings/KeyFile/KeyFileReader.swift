import CGIO

extension KeyFile {
  /// In bytes. No configuration and no desktop entry is near this size.
  package static let maximumSize = 1 << 20

  /// Reads a file; nil if it does not exist. Throws if it cannot be read, is larger than `maximumSize`, or is not a key
  /// file.
  package static func load(_ path: String) throws(KeyFileError) -> KeyFile? {
    guard let bytes = try contents(of: path) else { return nil }
    return try KeyFile(bytes: bytes, file: path)
  }

  /// The bytes of a file; `maximumSize` + 1 of them if it is larger; nil if it does not exist. Throws if it cannot be
  /// read.
  package static func contents(of path: String) throws(KeyFileError) -> [UInt8]? {
    do throws(FileContents.Failure) {
      return try FileContents.read(path, upTo: maximumSize)
    } catch {
      switch error {
      case .notAFile: throw KeyFileError(file: path, line: nil, problem: "is not a file", remedy: "name a text file")
      case .unreadable(let message):
        throw KeyFileError(
          file: path, line: nil, problem: "cannot be read (\(message))", remedy: "make it readable or remove it")
      }
    }
  }

  /// Parses the text of a key file: UTF-8 without U+0000. Errors show the path `file`. Throws at the first invalid
  /// line.
  package init(bytes: [UInt8], file: String) throws(KeyFileError) {
    guard bytes.count <= KeyFile.maximumSize else {
      throw KeyFileError(
        file: file, line: nil, problem: "is larger than 1 MiB", remedy: "a key file holds a few lines")
    }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where line.contains(0) || String(validating: line, as: UTF8.self) == nil {
      throw KeyFileError(file: file, line: index + 1, problem: "is not text", remedy: "write it in UTF-8")
    }
    if let problem = KeyFile.parse(bytes, then: { _ in }) {
      let line = KeyFile.firstRefusedLine(lines)
      throw KeyFileError(
        file: file, line: line, problem: problem, remedy: "write [Group] lines and, below them, Key=Value lines")
    }
    var groups: [Group] = []
    _ = KeyFile.parse(bytes) { parsed in groups = KeyFile.groups(of: parsed, lines: lines) }
    self.init(file: file, groups: groups)
  }

  /// Parses `bytes` with GLib, and returns its error message. If the bytes are valid, it is nil, and `body` was run
  /// with the parsed file, unless the file is empty.
  private static func parse(_ bytes: some Collection<UInt8>, then body: (OpaquePointer) -> Void) -> String? {
    let parsed = g_key_file_new()
    defer { g_key_file_free(parsed) }
    guard let parsed, !bytes.isEmpty else { return nil }
    var error: UnsafeMutablePointer<GError>?
    let isKeyFile = Array(bytes).withUnsafeBytes { bytes in
      g_key_file_load_from_data(
        parsed, bytes.assumingMemoryBound(to: CChar.self).baseAddress, gsize(bytes.count), G_KEY_FILE_KEEP_TRANSLATIONS,
        &error)
    }
    guard isKeyFile != 0 else { return consume(error) { text($0?.message) } }
    body(parsed)
    return nil
  }

  /// GLib quotes the line that it rejects but does not number it. It reads from the top. So the first rejected line is
  /// the last line of the shortest beginning that GLib rejects.
  private static func firstRefusedLine(_ lines: [ArraySlice<UInt8>]) -> Int {
    var accepted = 0
    var refused = lines.count
    while refused - accepted > 1 {
      let middle = (accepted + refused) / 2
      let beginning = lines.prefix(middle).joined(separator: [UInt8(ascii: "\n")])
      if parse(Array(beginning), then: { _ in }) == nil { accepted = middle } else { refused = middle }
    }
    return refused
  }

  /// Walks the lines of a file that GLib has accepted to find their numbers, and gets the values from GLib.
  private static func groups(of parsed: OpaquePointer, lines: [ArraySlice<UInt8>]) -> [Group] {
    var groups: [(name: String, line: Int, keys: [String], places: [String: (line: Int, column: Int)])] = []
    // A file may consist of groups only. Searching the list for each of them would take minutes.
    var numbers: [String: Int] = [:]
    var current: Int?
    for (index, bytes) in lines.enumerated() {
      let line = trimmed(bytes[...])
      if line.first == UInt8(ascii: "["), let end = line.lastIndex(of: UInt8(ascii: "]")) {
        let name = String(decoding: line[line.index(after: line.startIndex)..<end], as: UTF8.self)
        current = numbers[name]
        if current == nil {
          groups.append((name, index + 1, [], [:]))
          current = groups.count - 1
          numbers[name] = current
        }
      } else if let current, line.first != UInt8(ascii: "#"), let equals = line.firstIndex(of: UInt8(ascii: "=")) {
        let key = String(decoding: trimmed(line[..<equals]), as: UTF8.self)
        let value = line[line.index(after: equals)...].drop(while: isSpace)
        // The bytes before the value without those that continue a scalar.
        let column = bytes[..<value.startIndex].count(where: { $0 & 0xC0 != 0x80 }) + 1
        if groups[current].places.updateValue((index + 1, column), forKey: key) == nil {
          groups[current].keys.append(key)
        }
      }
    }
    return groups.map { group in
      let entries = group.keys.compactMap { key in
        group.places[key].flatMap { entry(of: parsed, group: group.name, key: key, at: $0) }
      }
      return Group(name: group.name, line: group.line, entries: entries)
    }
  }

  private static func entry(
    of parsed: OpaquePointer, group: String, key: String, at place: (line: Int, column: Int)
  ) -> Entry? {
    guard let raw = g_key_file_get_value(parsed, group, key, nil) else { return nil }
    defer { g_free(raw) }
    // GLib returns a string or a list even for an invalid value. Only the error shows that the value is invalid.
    var wrongString: UnsafeMutablePointer<GError>?
    var wrongList: UnsafeMutablePointer<GError>?
    let string = g_key_file_get_string(parsed, group, key, &wrongString)
    defer { g_free(string) }
    let list = g_key_file_get_string_list(parsed, group, key, nil, &wrongList)
    defer { g_strfreev(list) }
    let isString = consume(wrongString) { $0 == nil }
    let isList = consume(wrongList) { $0 == nil }
    return Entry(
      key: key, raw: text(raw), line: place.line, column: place.column,
      string: isString ? string.map { text($0) } : nil, list: isList ? list.map { texts($0) } : nil)
  }

  private static func texts(_ vector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> [String] {
    var texts: [String] = []
    while let item = vector[texts.count] { texts.append(text(item)) }
    return texts
  }

  static func text(_ string: UnsafePointer<CChar>?) -> String {
    string.map { String(cString: $0) } ?? ""
  }

  /// Reads an error, if there is one, and frees it.
  static func consume<Result>(
    _ error: UnsafeMutablePointer<GError>?, _ read: (GError?) -> Result
  ) -> Result {
    defer { if let error { g_error_free(error) } }
    return read(error?.pointee)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes.drop(while: isSpace)
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    return bytes
  }
}
