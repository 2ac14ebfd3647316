import CGIO

/// A key file (desktop entries, our configuration). GLib parses it, and each entry keeps its line number.
///
/// The format is that of the Desktop Entry Specification, sections "Basic format of the file" and "Possible value
/// types": groups in brackets, `key=value` lines, `#` comments. If a key or a group is repeated, the last value is
/// used.
package struct KeyFile: Sendable, Hashable {
  package struct Group: Sendable, Hashable {
    package let name: String
    /// Where the group first appears, from 1.
    package let line: Int
    /// In the order in which their keys first appear.
    package internal(set) var entries: [Entry]
  }

  package struct Entry: Sendable, Hashable {
    /// With its locale in brackets if it has one.
    package let key: String
    /// As written, without leading white space.
    package let raw: String
    /// Of the value, from 1.
    package let line: Int
    /// Where the value begins, from 1 and in Unicode scalars.
    package let column: Int
    /// With its escapes decoded; nil if an escape is invalid.
    let string: String?
    /// The parts between `;`, with their escapes decoded; nil if an escape is invalid.
    let list: [String]?
  }

  /// As errors show it.
  package let file: String
  /// In the order in which they first appear.
  package let groups: [Group]

  package static let empty = KeyFile(file: "", groups: [])

  package func group(_ name: String) -> Group? {
    groups.first { $0.name == name }
  }

  package func entry(_ group: String, _ key: String) -> Entry? {
    self.group(group)?.entries.first { $0.key == key }
  }

  /// Escapes (`\s \n \t \r \\`) are decoded. Nil if there is no such entry.
  package func string(_ group: String, _ key: String) throws(KeyFileError) -> String? {
    guard let entry = entry(group, key) else { return nil }
    return try string(entry)
  }

  /// The separator is `;`, and `\;` is a literal semicolon. Nil if there is no such entry.
  package func strings(_ group: String, _ key: String) throws(KeyFileError) -> [String]? {
    guard let entry = entry(group, key) else { return nil }
    return try strings(entry)
  }

  /// Yes or no, true or false, on or off, 1 or 0. Nil if there is no such entry. Throws if it is another word.
  package func boolean(
    _ group: String, _ key: String, remedy: String = "write yes or no"
  ) throws(KeyFileError) -> Bool? {
    guard let entry = entry(group, key) else { return nil }
    switch try string(group, key) {
    case "yes", "true", "on", "1": return true
    case "no", "false", "off", "0": return false
    default: throw mistake(entry, "\(KeyFile.quoted(entry)) is neither yes nor no", remedy)
    }
  }

  /// Nil if there is no such entry. Throws if it is not a whole number or is out of range; the error names the unit,
  /// for example "milliseconds".
  package func integer(
    _ group: String, _ key: String, in range: ClosedRange<Int>, unit: String
  ) throws(KeyFileError) -> Int? {
    guard let entry = entry(group, key) else { return nil }
    let remedy = "write a number of \(unit) from \(range.lowerBound) to \(range.upperBound)"
    guard let number = Int(entry.raw) else {
      throw mistake(entry, "\(KeyFile.quoted(entry)) is not a whole number", remedy)
    }
    guard range.contains(number) else { throw mistake(entry, "\(KeyFile.quoted(entry)) is out of range", remedy) }
    return number
  }

  /// Nil if there is no such entry. Throws if it is another word; the error lists `choices` in their order.
  package func choice<Choice: RawRepresentable<String>>(
    _ group: String, _ key: String, of choices: [Choice]
  ) throws(KeyFileError) -> Choice? {
    guard let entry = entry(group, key) else { return nil }
    guard let choice = Choice(rawValue: entry.raw) else {
      let remedy = "write \(choices.map(\.rawValue).joined(separator: " or "))"
      throw mistake(entry, "\(KeyFile.quoted(entry)) is not known", remedy)
    }
    return choice
  }

  package func mistake(_ entry: Entry, _ problem: String, _ remedy: String) -> KeyFileError {
    KeyFileError(file: file, line: entry.line, problem: problem, remedy: remedy)
  }

  /// `key=value` for an error message. A long value is cut.
  package static func quoted(_ entry: Entry) -> String {
    let value = entry.raw.count > 60 ? entry.raw.prefix(59) + "…" : entry.raw[...]
    return "\(entry.key)=\(value)"
  }

  package func strings(_ entry: Entry) throws(KeyFileError) -> [String] {
    guard let list = entry.list else { throw invalidEscape(entry) }
    return list
  }

  package func string(_ entry: Entry) throws(KeyFileError) -> String {
    guard let string = entry.string else { throw invalidEscape(entry) }
    return string
  }

  private func invalidEscape(_ entry: Entry) -> KeyFileError {
    mistake(
      entry, "\(KeyFile.quoted(entry)) has a backslash that escapes nothing", #"write \\ for a backslash"#)
  }
}

extension KeyFile {
  /// In bytes. No configuration and no desktop entry is near this size.
  package static let maximumSize = 1 << 20

  /// Nil if the file does not exist. Throws if it cannot be read, is larger than `maximumSize`, or is not a key file.
  package static func load(_ path: String) throws(KeyFileError) -> KeyFile? {
    guard let bytes = try contents(of: path) else { return nil }
    return try KeyFile(bytes: bytes, file: path)
  }

  /// `maximumSize` + 1 bytes if the file is larger; nil if it does not exist. Throws if it cannot be read.
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

  /// `bytes` must be UTF-8 without U+0000. Errors show the path `file`. Throws at the first invalid line.
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

  /// Returns GLib's error message. If the bytes are valid, it is nil, and `body` was run with the parsed file, unless
  /// the file is empty.
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

  /// Gets the line numbers from `lines`, which GLib has accepted, and the values from GLib.
  private static func groups(of parsed: OpaquePointer, lines: [ArraySlice<UInt8>]) -> [Group] {
    var groups: [(name: String, line: Int, keys: [String], places: [String: (line: Int, column: Int)])] = []
    // A file may consist of groups only. Searching the list for each of them would take minutes.
    var numbers: [String: Int] = [:]
    var current: Int?
    for (index, bytes) in lines.enumerated() {
      switch KeyFileLine(bytes).kind {
      case .group(let name):
        current = numbers[name]
        if current == nil {
          groups.append((name, index + 1, [], [:]))
          current = groups.count - 1
          numbers[name] = current
        }
      case .entry(let key):
        guard let current, let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { continue }
        let value = bytes[bytes.index(after: equals)...].drop(while: KeyFileLine.isSpace)
        // The bytes before the value without those that continue a scalar.
        let column = bytes[..<value.startIndex].count(where: { $0 & 0xC0 != 0x80 }) + 1
        if groups[current].places.updateValue((index + 1, column), forKey: key) == nil {
          groups[current].keys.append(key)
        }
      case .disabledEntry, .comment, .blank: break
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

  /// Frees the error, if there is one.
  static func consume<Result>(
    _ error: UnsafeMutablePointer<GError>?, _ read: (GError?) -> Result
  ) -> Result {
    defer { if let error { g_error_free(error) } }
    return read(error?.pointee)
  }
}

/// The keys that a file may have, by group.
package struct KeyFileSchema: Sendable, Hashable {
  package let keys: [String: [String]]

  package init(_ keys: [String: [String]]) {
    self.keys = keys
  }

  /// Rejects the first group or key of `file` that is not in the schema, and suggests the nearest known one.
  package func check(_ file: KeyFile) throws(KeyFileError) {
    for group in file.groups {
      guard let known = keys[group.name] else {
        throw KeyFileError(
          file: file.file, line: group.line, problem: "there is no group [\(group.name)]",
          remedy: suggestion(for: group.name, among: keys.keys.sorted()) { "[\($0)]" })
      }
      try check(group, of: file, as: group.name, known)
    }
  }

  /// Like ``check(_:)``, with the keys of the group `name`. For files that choose the names of their groups.
  package func check(_ group: KeyFile.Group, of file: KeyFile, as name: String) throws(KeyFileError) {
    try check(group, of: file, as: name, keys[name] ?? [])
  }

  private func check(
    _ group: KeyFile.Group, of file: KeyFile, as name: String, _ known: [String]
  ) throws(KeyFileError) {
    for entry in group.entries where !known.contains(entry.key) {
      throw KeyFileError(
        file: file.file, line: entry.line, problem: "group [\(group.name)] has no key \(entry.key)",
        remedy: remedy(for: entry.key, in: name, known))
    }
  }

  /// A key that exists in another group is more likely misplaced than misspelt.
  private func remedy(for key: String, in group: String, _ known: [String]) -> String {
    if let home = keys.keys.sorted().first(where: { keys[$0]?.contains(key) == true }) {
      return "move it below [\(home)]"
    }
    return suggestion(for: key, among: known.sorted()) { $0 }
  }

  private func suggestion(for name: String, among known: [String], _ shown: (String) -> String) -> String {
    let all = known.map(shown).joined(separator: ", ")
    return Spelling.suggestion(for: name, among: known, shown) ?? "the known ones are \(all)"
  }
}

package struct KeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// As the caller gave it.
  package let file: String
  /// From 1; nil if the mistake concerns the whole file.
  package let line: Int?
  package let problem: String
  package let remedy: String

  package init(file: String, line: Int?, problem: String, remedy: String) {
    self.file = file
    self.line = line
    self.problem = problem
    self.remedy = remedy
  }

  /// `file:line: problem: remedy`: the format that compilers print and editors can jump to.
  package var description: String { "\(place): \(problem): \(remedy)" }
  package var place: String { file + (line.map { ":\($0)" } ?? "") }
}
