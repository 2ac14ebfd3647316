/// A line of a key file that GLib accepts.
struct KeyFileLine: Sendable {
  enum Kind: Sendable, Hashable {
    /// The header of a group.
    case group(String)
    case entry(key: String)
    /// An entry behind a `#`, as the shipped files have each key with its default. Prose has a space behind its `#`.
    case disabledEntry(key: String)
    case comment
    case blank
  }

  /// Without its line break.
  let bytes: ArraySlice<UInt8>
  let kind: Kind

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    let line = Self.trimmed(bytes)
    switch line.first {
    case nil: kind = .blank
    case UInt8(ascii: "["):
      let name = line.dropFirst().prefix(upTo: line.lastIndex(of: UInt8(ascii: "]")) ?? line.endIndex)
      kind = .group(String(decoding: name, as: UTF8.self))
    case UInt8(ascii: "#"):
      let rest = line.dropFirst()
      let isProse = rest.first.map { Self.isSpace($0) || $0 == UInt8(ascii: "#") } ?? true
      kind = isProse ? .comment : Self.key(of: rest).map { .disabledEntry(key: $0) } ?? .comment
    default: kind = Self.key(of: line).map { .entry(key: $0) } ?? .comment
    }
  }

  init(_ text: String) { self.init(Array(text.utf8)[...]) }

  private static func key(of line: ArraySlice<UInt8>) -> String? {
    line.firstIndex(of: UInt8(ascii: "=")).map { String(decoding: trimmed(line[..<$0]), as: UTF8.self) }
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) }

  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes.drop(while: isSpace)
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    return bytes
  }
}

/// The lines of a key file. An edit changes only the lines that it names. All others keep every byte.
struct KeyFileLines {
  private var lines: [KeyFileLine]

  init(_ bytes: [UInt8]) {
    lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { KeyFileLine($0) }
  }

  var bytes: [UInt8] { Array(lines.map(\.bytes).joined(separator: [UInt8(ascii: "\n")])) }

  mutating func apply(_ edit: KeyFileEdit) {
    switch edit {
    case .set(let group, let key, let text): set(group, key, to: Self.escaped(text))
    case .setList(let group, let key, let texts):
      set(group, key, to: texts.map { Self.escaped($0, inList: true) + ";" }.joined())
    case .reset(let group, let key, let text): reset(group, key, to: text)
    case .remove(let group, let key): remove(entries(group, key))
    case .removeGroup(let group): removeGroup(group)
    }
  }

  /// The last of several entries counts, so the others go. A new entry takes the place of a disabled one.
  private mutating func set(_ group: String, _ key: String, to value: String) {
    let new = KeyFileLine("\(key)=\(value)")
    let (section, entries) = (indices(in: group), entries(group, key))
    if let place = entries.last ?? section.last(where: { lines[$0].kind == .disabledEntry(key: key) }) {
      lines[place] = new
      remove(entries.dropLast())
    } else if let last = section.last(where: { ![.comment, .blank].contains(lines[$0].kind) }) {
      lines.insert(new, at: last + 1)
    } else {
      // The end of the last line.
      if lines.last?.bytes.isEmpty == true { lines.removeLast() }
      lines += (lines.isEmpty ? [] : [KeyFileLine("")]) + [KeyFileLine("[\(group)]"), new, KeyFileLine("")]
    }
  }

  private mutating func reset(_ group: String, _ key: String, to value: String) {
    let entries = entries(group, key)
    guard let place = entries.last else { return }
    guard !indices(in: group).contains(where: { lines[$0].kind == .disabledEntry(key: key) }) else {
      return remove(entries)
    }
    lines[place] = KeyFileLine("#\(key)=\(value)")
    remove(entries.dropLast())
  }

  /// Comments below the last entry stay, because they may belong to the next group.
  private mutating func removeGroup(_ group: String) {
    var isAboveEntry = false
    var removed: [Int] = []
    for index in indices(in: group).reversed() {
      let kind = lines[index].kind
      switch kind {
      case .group: isAboveEntry = false
      case .entry, .disabledEntry: isAboveEntry = true
      case .comment, .blank: break
      }
      if kind != .comment || isAboveEntry { removed.append(index) }
    }
    let wasLast = removed.first == lines.count - 1
    remove(removed.reversed())
    // The line break at the end of the file stays.
    if wasLast, let last = lines.last, last.kind != .blank { lines.append(KeyFileLine("")) }
  }

  /// In ascending order.
  private mutating func remove(_ indices: some BidirectionalCollection<Int>) {
    for index in indices.reversed() { lines.remove(at: index) }
  }

  private func entries(_ group: String, _ key: String) -> [Int] {
    indices(in: group).filter { lines[$0].kind == .entry(key: key) }
  }

  /// With the headers. A file may have a group several times.
  private func indices(in group: String) -> [Int] {
    var isInside = false
    return lines.indices.filter { index in
      if case .group(let name) = lines[index].kind { isInside = name == group }
      return isInside
    }
  }

  /// Desktop Entry Specification, "Possible value types". As GLib writes it, only leading spaces are escaped.
  private static func escaped(_ text: String, inList: Bool = false) -> String {
    var result = ""
    var isLeading = true
    // Scalars, because a combining mark forms another character with a semicolon.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += #"\\"#
      case "\n": result += #"\n"#
      case "\r": result += #"\r"#
      case "\t": result += #"\t"#
      case " " where isLeading: result += #"\s"#
      case ";" where inList: result += #"\;"#
      default: result.unicodeScalars.append(scalar)
      }
      if scalar != " " { isLeading = false }
    }
    return result
  }
}
