/// One key of a configuration: its place in the file, and how to set its value in the typed configuration.
struct Setting<Configuration>: Sendable {
  let group: String
  let key: String
  /// Whether two configurations have the same value for this key.
  let isSame: @Sendable (Configuration, Configuration) -> Bool
  /// Sets the key's value in the configuration, or leaves it unchanged if the file does not have the key.
  let apply: @Sendable (inout Configuration, KeyFile) throws(KeyFileError) -> Void

  init<Value: Equatable & SendableMetatype>(
    _ group: String, _ key: String, _ value: any KeyPath<Configuration, Value> & Sendable,
    _ apply: @escaping @Sendable (inout Configuration, KeyFile) throws(KeyFileError) -> Void
  ) {
    self.group = group
    self.key = key
    isSame = { $0[keyPath: value] == $1[keyPath: value] }
    self.apply = apply
  }
}

/// A configuration that is read from key files.
package protocol KeyFileConfiguration: Sendable, Hashable {
  /// Every setting at its default.
  init()
  /// The groups and keys a file may have.
  static var schema: KeyFileSchema { get }
  /// Sets the values that `file` has, and leaves the rest unchanged. Throws the first mistake, with its line.
  mutating func merge(_ file: KeyFile) throws(KeyFileError)
  /// The keys with different values, as written in the file, in the order of the shipped file.
  func keys(differingFrom other: Self) -> [String]
}

extension KeyFileConfiguration {
  /// Starts with the defaults and applies each of `files` in order. A file that does not exist is skipped. Throws the
  /// first mistake in the first file that has one.
  package static func load(_ files: [String]) throws(KeyFileError) -> Self {
    var configuration = Self()
    for path in files {
      guard let file = try KeyFile.load(path) else { continue }
      try configuration.merge(file)
    }
    return configuration
  }

  /// Starts with the defaults and applies the one file that a command line names, which must exist. Throws the first
  /// mistake in the file.
  package static func load(only path: String) throws(KeyFileError) -> Self {
    guard let file = try KeyFile.load(path) else {
      throw KeyFileError(file: path, line: nil, problem: "does not exist", remedy: "name a file that does")
    }
    var configuration = Self()
    try configuration.merge(file)
    return configuration
  }

  static func schema(of settings: [Setting<Self>]) -> KeyFileSchema {
    KeyFileSchema(Dictionary(grouping: settings, by: \.group).mapValues { $0.map(\.key) })
  }

  func keys(differingFrom other: Self, _ settings: [Setting<Self>]) -> [String] {
    settings.filter { !$0.isSame(self, other) }.map(\.key)
  }

  mutating func merge(_ file: KeyFile, _ settings: [Setting<Self>]) throws(KeyFileError) {
    try Self.schema(of: settings).check(file)
    for setting in settings { try setting.apply(&self, file) }
  }
}
