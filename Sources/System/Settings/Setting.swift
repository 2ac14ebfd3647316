/// One key of a configuration: its place in the file, and how to set its value in the typed configuration.
struct Setting<Configuration>: Sendable {
  let group: String
  let key: String
  let isSame: @Sendable (Configuration, Configuration) -> Bool
  /// The value as a file has it; nil if no program changes the key.
  let text: (@Sendable (Configuration) -> String)?
  /// No effect if the file does not have the key.
  let apply: @Sendable (inout Configuration, KeyFile) throws(KeyFileError) -> Void

  init<Value: Equatable & SendableMetatype>(
    _ group: String, _ key: String, _ value: any KeyPath<Configuration, Value> & Sendable,
    text: (@Sendable (Value) -> String)? = nil,
    _ apply: @escaping @Sendable (inout Configuration, KeyFile) throws(KeyFileError) -> Void
  ) {
    self.group = group
    self.key = key
    isSame = { $0[keyPath: value] == $1[keyPath: value] }
    if let text { self.text = { text($0[keyPath: value]) } } else { self.text = nil }
    self.apply = apply
  }

  /// Of the words that a file may have, `words` are those for people.
  static func flag(
    _ group: String, _ key: String, _ value: any WritableKeyPath<Configuration, Bool> & Sendable,
    words: (yes: String, no: String) = ("yes", "no")
  ) -> Setting {
    Setting(group, key, value, text: { $0 ? words.yes : words.no }) { configuration, file throws(KeyFileError) in
      let flag = try file.boolean(group, key, remedy: "write \(words.yes) or \(words.no)")
      if let flag { configuration[keyPath: value] = flag }
    }
  }

  static func number(
    _ group: String, _ key: String, _ value: any WritableKeyPath<Configuration, Int> & Sendable,
    in range: ClosedRange<Int>, unit: String
  ) -> Setting {
    Setting(group, key, value, text: { String($0) }) { configuration, file throws(KeyFileError) in
      if let number = try file.integer(group, key, in: range, unit: unit) { configuration[keyPath: value] = number }
    }
  }

  static func choice<Choice: RawRepresentable<String> & CaseIterable & Equatable & Sendable>(
    _ group: String, _ key: String, _ value: any WritableKeyPath<Configuration, Choice> & Sendable
  ) -> Setting {
    Setting(group, key, value, text: { $0.rawValue }) { configuration, file throws(KeyFileError) in
      let choice = try file.choice(group, key, of: Array(Choice.allCases))
      if let choice { configuration[keyPath: value] = choice }
    }
  }
}

package protocol KeyFileConfiguration: Sendable, Hashable {
  init()
  /// The groups and keys a file may have.
  static var schema: KeyFileSchema { get }
  /// Leaves the values that `file` does not have unchanged. Throws the first mistake, with its line.
  mutating func merge(_ file: KeyFile) throws(KeyFileError)
  /// The keys with different values, as written in the file, in the order of the shipped file.
  func keys(differingFrom other: Self) -> [String]
}

extension KeyFileConfiguration {
  /// Applies each of `files` in order to the defaults. A file that does not exist is skipped. Throws the first mistake
  /// in the first file that has one.
  package static func load(_ files: [String]) throws(KeyFileError) -> Self {
    var configuration = Self()
    for path in files {
      guard let file = try KeyFile.load(path) else { continue }
      try configuration.merge(file)
    }
    return configuration
  }

  /// Applies the file that a command line names, which must exist, to the defaults. Throws the first mistake in it.
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

/// The drop-in files (`*.conf`) of several directories, in the order in which they are applied: by file name.
///
/// As in systemd (systemd.unit(5)), a file hides files of the same name in earlier directories. So an administrator can
/// replace a packaged file, or disable it with an empty one. A missing directory has the same effect as an empty one.
package func dropIns(in directories: [String]) -> [String] {
  // Far more than an administrator writes. It bounds the work if another program fills the directory.
  let mostNames = 10_000
  var paths: [String: String] = [:]
  for directory in directories {
    for name in FileContents.names(inDirectory: directory, atMost: mostNames) ?? [] where name.hasSuffix(".conf") {
      paths[name] = "\(directory)/\(name)"
    }
  }
  return paths.sorted { $0.key < $1.key }.map(\.value)
}

/// Runs the readings of a configuration one at a time.
///
/// A reading in progress may have read older contents than a new request expects, so the next reading answers that
/// request. All requests before the next reading starts share it. So no request is lost, and none takes effect twice.
/// Requests that arrive before the program is ready wait for ``open()``.
package actor SharedReadings<Outcome: Sendable> {
  private let read: @Sendable () async -> Outcome
  private var reading: Task<Outcome, Never>?
  private var nextReading: Task<Outcome, Never>?
  private var isOpen = false
  private var waiting: CheckedContinuation<Void, Never>?

  package init(read: @escaping @Sendable () async -> Outcome) { self.read = read }

  /// Call it when the program can apply the result.
  package func open() {
    isOpen = true
    waiting?.resume()
    waiting = nil
  }

  /// The reading starts no earlier than now.
  @discardableResult package func request() -> Task<Outcome, Never> {
    if let nextReading { return nextReading }
    guard let present = reading else {
      let task = Task { await self.perform() }
      reading = task
      return task
    }
    guard isOpen else { return present }
    let task = Task {
      _ = await present.value
      self.reading = self.nextReading
      self.nextReading = nil
      return await self.perform()
    }
    nextReading = task
    return task
  }

  private func perform() async -> Outcome {
    // There is only one reading at a time, so at most one waits.
    if !isOpen { await withCheckedContinuation { waiting = $0 } }
    let outcome = await read()
    reading = nil
    return outcome
  }
}
