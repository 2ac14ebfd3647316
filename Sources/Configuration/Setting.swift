public import KeyFile

/// One key of a configuration: where it stands in the file, and how its value gets into the typed configuration.
struct Setting<Configuration>: Sendable {
  let group: String
  let key: String
  /// Whether two configurations have the same value.
  let isSame: @Sendable (Configuration, Configuration) -> Bool
  /// Puts the key's value into the configuration, and leaves it alone where the file has no such key.
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
public protocol KeyFileConfiguration: Sendable, Hashable {
  /// Every setting at its default.
  init()
  /// The groups and keys a file may have.
  static var schema: KeyFileSchema { get }
  /// Takes over what `file` sets and leaves the rest alone.
  ///
  /// - Throws: the first mistake in the file, with its line.
  mutating func merge(_ file: KeyFile) throws(KeyFileError)
  /// The keys whose values differ, as they are written in the file, in the order of the file that is shipped.
  func keys(differingFrom other: Self) -> [String]
}

extension KeyFileConfiguration {
  /// The defaults, and over them each of `files` in order; a file that does not exist says nothing.
  ///
  /// - Throws: the first mistake in the first file that has one.
  public static func load(_ files: [String]) throws(KeyFileError) -> Self {
    var configuration = Self()
    for path in files {
      guard let file = try KeyFile.load(path) else { continue }
      try configuration.merge(file)
    }
    return configuration
  }

  /// The defaults, and over them the one file that a command line names, which must exist.
  ///
  /// - Throws: the first mistake in the file, or that it is missing.
  public static func load(only path: String) throws(KeyFileError) -> Self {
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
