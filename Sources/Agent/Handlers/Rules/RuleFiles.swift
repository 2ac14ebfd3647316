import EventLoop
import Glibc
import Names
package import Routing
package import Settings

/// The directories of rules, and one reading of all their files.
package struct RuleFiles: Sendable, Hashable {
  /// Nil if there is no home.
  package let user: String?
  package let system: String

  /// The directory below `XDG_CONFIG_HOME`, and the administrator's, by default in `/etc`.
  package init(environment: [String: String] = ProcessEnvironment.current, system: String? = nil) {
    user = BaseDirectories(environment: environment).configuration.map { "\($0)/\(Names.Files.rules)" }
    self.system = system ?? Names.Files.systemRules
  }

  package struct Content: Sendable, Hashable {
    /// The valid ones, at most ``RuleSet/maximumRules``.
    package var rules: [TapRule] = []
    /// In the order of the files. Of the mistakes in files, at most ``RuleFile/maximumProblems``.
    package var problems: [KeyFileError] = []

    package init(rules: [TapRule] = [], problems: [KeyFileError] = []) {
      (self.rules, self.problems) = (rules, problems)
    }
  }

  /// Names in a directory. More are reported, and the directory is ignored.
  private static let maximumNames = 1000

  /// The user's first.
  var directories: [(path: String, origin: TapRule.Origin)] {
    [user].compactMap(\.self).map { ($0, .user) } + [(system, .system)]
  }

  /// In the order of the files' names. Blocks on files.
  package func read() -> Content {
    var content = Content()
    for (directory, origin) in directories { read(directory, origin, &content) }
    let most = RuleSet.maximumRules
    if content.rules.count > most {
      let first = content.rules[most]
      content.problems.append(
        KeyFileError(
          file: first.file, line: first.line, problem: "there are more than \(most) rules; the rest is ignored",
          remedy: "remove some"))
      content.rules.removeSubrange(most...)
    }
    return content
  }

  private func read(_ directory: String, _ origin: TapRule.Origin, _ content: inout Content) {
    // No directory at all is right, but rules that cannot be read must not look like none.
    func reportObstacle() {
      guard let obstacle = FileContents.obstacle(toReadingDirectory: directory) else { return }
      content.problems.append(
        KeyFileError(
          file: directory, line: nil, problem: "cannot be read (\(obstacle))", remedy: "make it a readable folder"))
    }
    guard let attributes = FileContents.attributes(ofDirectory: directory) else { return reportObstacle() }
    if let objection = Self.objection(to: attributes, directory, origin) {
      content.problems.append(objection)
      return
    }
    guard origin == .user ? FileOwnership.isUsersAlone(directory) : FileOwnership.real.isRootsAlone(directory) else {
      content.problems.append(
        KeyFileError(
          file: directory, line: nil, problem: "is ignored, because other users can change a folder above it",
          remedy: "make those folders \(origin == .user ? "yours" : "root's"), and run chmod o-w on them"))
      return
    }
    guard let names = FileContents.names(inDirectory: directory, atMost: Self.maximumNames) else {
      return reportObstacle()
    }
    guard names.count <= Self.maximumNames else {
      content.problems.append(
        KeyFileError(
          file: directory, line: nil, problem: "has more than \(Self.maximumNames) files, so none is read",
          remedy: "remove some"))
      return
    }
    for name in names.sorted() where name.hasSuffix(".conf") {
      guard content.rules.count <= RuleSet.maximumRules else { return }
      let (rules, problems) = Self.read("\(directory)/\(name)", origin)
      content.rules += rules
      // Mistakes in one file must not disable the rules of the next one, which may be Ignore= or the administrator's.
      content.problems += problems.prefix(max(0, RuleFile.maximumProblems - content.problems.count))
    }
  }

  /// Only if no other user can change the file. A link may lead elsewhere: the file behind it is examined. Blocks on
  /// files.
  static func read(_ path: String, _ origin: TapRule.Origin) -> (rules: [TapRule], problems: [KeyFileError]) {
    func mistake(_ problem: String, _ remedy: String) -> ([TapRule], [KeyFileError]) {
      ([], [KeyFileError(file: path, line: nil, problem: problem, remedy: remedy)])
    }
    do throws(FileContents.Failure) {
      guard let read = try FileContents.readWithAttributes(path, upTo: RuleFile.maximumSize) else {
        return mistake("there is no such file", "create it, or remove the link that names it")
      }
      if let objection = objection(to: read.attributes, path, origin) { return ([], [objection]) }
      let file = RuleFile(read.bytes, file: path, origin: origin)
      return (file.rules, file.problems)
    } catch {
      switch error {
      case .notAFile: return mistake("is not a file", "remove it")
      case .unreadable(let message): return mistake("cannot be read (\(message))", "make it readable or remove it")
      }
    }
  }

  /// Nil if only its user or root can change the file or the directory.
  static func objection(
    to attributes: FileContents.Attributes, _ path: String, _ origin: TapRule.Origin
  ) -> KeyFileError? {
    guard attributes.owner == 0 || origin == .user && attributes.owner == getuid() else {
      let owner = origin == .user ? "you" : "root"
      return KeyFileError(
        file: path, line: nil, problem: "is ignored, because it belongs to another user",
        remedy: "make \(owner) the owner")
    }
    guard !attributes.isWritableByOthers else {
      return KeyFileError(
        file: path, line: nil, problem: "is ignored, because other users can change it",
        remedy: "run chmod go-w on it")
    }
    return nil
  }

  /// Before a file is installed. Blocks on files.
  package static func check(_ path: String) -> Content {
    let (rules, problems) = read(path, .user)
    return Content(rules: rules, problems: problems)
  }
}
