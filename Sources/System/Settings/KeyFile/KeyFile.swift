/// A key file (desktop entries, our configuration). GLib parses it, and each entry keeps its line number.
///
/// The format is that of the Desktop Entry Specification, sections "Basic format of the file" and "Possible value
/// types": groups in brackets, `key=value` lines, `#` comments. If a key or a group is repeated, the last value is
/// used.
package struct KeyFile: Sendable, Hashable {
  /// A group and its entries.
  package struct Group: Sendable, Hashable {
    /// The name between the brackets.
    package let name: String
    /// The line on which the group first appears, from 1.
    package let line: Int
    /// The group's entries, in the order in which their keys first appear.
    package internal(set) var entries: [Entry]
  }

  /// A key with its value.
  package struct Entry: Sendable, Hashable {
    /// The key, with its locale in brackets if it has one.
    package let key: String
    /// The value as written, without leading white space.
    package let raw: String
    /// The line of the value, from 1.
    package let line: Int
    /// The column in that line at which the value begins, from 1 and in Unicode scalars.
    package let column: Int
    /// The value with its escapes decoded; nil if an escape is invalid.
    let string: String?
    /// The value as a list with the separator `;` and its escapes decoded; nil if an escape is invalid.
    let list: [String]?
  }

  /// The file's path, as errors show it.
  package let file: String
  /// The groups, in the order in which they first appear.
  package let groups: [Group]

  /// A key file without groups.
  package static let empty = KeyFile(file: "", groups: [])

  init(file: String, groups: [Group]) {
    self.file = file
    self.groups = groups
  }

  /// The group with this name; nil if there is none.
  package func group(_ name: String) -> Group? {
    groups.first { $0.name == name }
  }

  /// The entry with this key; nil if there is none.
  package func entry(_ group: String, _ key: String) -> Entry? {
    self.group(group)?.entries.first { $0.key == key }
  }

  /// The value with its escapes (`\s \n \t \r \\`) decoded; nil if there is no such entry.
  package func string(_ group: String, _ key: String) throws(KeyFileError) -> String? {
    guard let entry = entry(group, key) else { return nil }
    return try string(entry)
  }

  /// The value as a list with the separator `;`, and `\;` for a literal semicolon; nil if there is no such entry.
  package func strings(_ group: String, _ key: String) throws(KeyFileError) -> [String]? {
    guard let entry = entry(group, key) else { return nil }
    return try strings(entry)
  }

  /// A switch: yes or no, true or false, on or off, 1 or 0. Nil if there is no such entry. Throws if it is another
  /// word.
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

  /// A whole number within `range`. Nil if there is no such entry. Throws if it is not a number or is out of range; the
  /// error names the unit, for example "milliseconds".
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

  /// One of a few words. Nil if there is no such entry. Throws if it is another word; the error lists `choices` in
  /// their order.
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

  /// An error about the value of `entry`.
  package func mistake(_ entry: Entry, _ problem: String, _ remedy: String) -> KeyFileError {
    KeyFileError(file: file, line: entry.line, problem: problem, remedy: remedy)
  }

  /// `key=value` for an error message. A long value is cut.
  package static func quoted(_ entry: Entry) -> String {
    let value = entry.raw.count > 60 ? entry.raw.prefix(59) + "…" : entry.raw[...]
    return "\(entry.key)=\(value)"
  }

  /// The value of `entry` as a list, like ``strings(_:_:)``.
  package func strings(_ entry: Entry) throws(KeyFileError) -> [String] {
    guard let list = entry.list else { throw invalidEscape(entry) }
    return list
  }

  /// The value of `entry` with its escapes decoded, like ``string(_:_:)``.
  package func string(_ entry: Entry) throws(KeyFileError) -> String {
    guard let string = entry.string else { throw invalidEscape(entry) }
    return string
  }

  private func invalidEscape(_ entry: Entry) -> KeyFileError {
    mistake(
      entry, "\(KeyFile.quoted(entry)) has a backslash that escapes nothing", #"write \\ for a backslash"#)
  }
}
