import Glibc
import Rig
import Routing
import Settings
import Testing

@testable import Handlers

/// Which files of rules count.
@Suite(.timeLimit(.minutes(5))) struct RuleFilesTests {
  private static let rule = "[Rule a]\nUID=04-A2-19-5A\nShow=yes\n"
  private let directory: TemporaryDirectory
  private let files: RuleFiles

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("", to: "config/tagroute/rules.d/.keep")
    files = RuleFiles(environment: ["XDG_CONFIG_HOME": directory.file("config")], system: directory.file("etc"))
  }

  private func write(_ text: String, to name: String = "a.conf", mode: UInt32 = 0o644) throws -> String {
    let path = try directory.write(text, to: "config/tagroute/rules.d/\(name)", mode: mode)
    try #require(chmod(path, mode) == 0)
    return path
  }

  @Test(.enabled(if: getuid() == 0, "only root owns the administrator's rules"))
  func `files are read in the order of their names, the user's first`() throws {
    _ = try write("[Rule second]\nText=a\nShow=yes\n", to: "20.conf")
    _ = try write("[Rule first]\nText=a\nShow=yes\n[Rule then]\nText=a\nShow=yes\n", to: "10.conf")
    _ = try write(Self.rule, to: "30.conf.bak")
    try directory.write("[Rule last]\nText=a\nShow=yes\n", to: "etc/00.conf")
    let content = files.read()
    #expect(content.problems.isEmpty)
    #expect(RuleSet(content.rules).rules.map(\.name) == ["first", "then", "second", "last"])
    #expect(content.rules.map(\.origin) == [.user, .user, .user, .system])
  }

  @Test(arguments: [0o664, 0o646, 0o666] as [UInt32])
  func `a file that others can write is ignored`(mode: UInt32) throws {
    _ = try write(Self.rule, mode: mode)
    let content = files.read()
    #expect(content.rules.isEmpty)
    #expect(content.problems.first?.problem.contains("other users can change it") == true)
  }

  @Test func `a directory that others can write is ignored`() throws {
    _ = try write(Self.rule)
    try #require(chmod(directory.file("config/tagroute/rules.d"), 0o777) == 0)
    #expect(files.read().rules.isEmpty)
    #expect(files.read().problems.count == 1)
  }

  /// Whoever can rename the directory can put another one in its place.
  @Test(arguments: ["config/tagroute", "config"])
  func `a directory below one that others can write is ignored`(above: String) throws {
    _ = try write(Self.rule)
    #expect(files.read().rules.count == 1)
    try #require(chmod(directory.file(above), 0o777) == 0)
    #expect(files.read().rules.isEmpty)
    #expect(files.read().problems.first?.problem.contains("a folder above it") == true)
    // Nobody can rename the others' files in a directory with the sticky bit.
    try #require(chmod(directory.file(above), 0o1777) == 0)
    #expect(files.read().rules.count == 1 && files.read().problems.isEmpty)
  }

  @Test(.enabled(if: getuid() == 0, "only root owns such files"))
  func `a file of another user is ignored, also behind a link`() throws {
    let other = try directory.write(Self.rule, to: "other.conf")
    try #require(chown(other, 12345, 12345) == 0)
    try #require(symlink(other, directory.file("config/tagroute/rules.d/link.conf")) == 0)
    let path = try write(Self.rule)
    try #require(chown(path, 12345, 12345) == 0)
    let content = files.read()
    #expect(content.rules.isEmpty)
    #expect(content.problems.count == 2)
    #expect(content.problems.allSatisfy { $0.problem.contains("another user") })
  }

  @Test func `pipes, directories, devices and large files do not hold up the others`() throws {
    let folder = directory.file("config/tagroute/rules.d")
    try #require(mkfifo("\(folder)/pipe.conf", 0o600) == 0)
    try #require(mkdir("\(folder)/folder.conf", 0o700) == 0)
    try #require(symlink("/dev/zero", "\(folder)/zero.conf") == 0)
    try #require(symlink("\(folder)/nowhere", "\(folder)/dangling.conf") == 0)
    _ = try write(Self.rule + String(repeating: "#\n", count: 5 << 20), to: "large.conf")
    _ = try write(Self.rule)
    let content = files.read()
    #expect(content.rules.map(\.name) == ["a"])
    #expect(content.problems.count == 5)
  }

  @Test func `more than a thousand rules are reported`() throws {
    for file in 0..<4 {
      let rules = (0..<300).map { "[Rule \(file)-\($0)]\nText=\($0)\nShow=yes\n" }.joined()
      _ = try write(rules, to: "\(file).conf")
    }
    let content = files.read()
    #expect(content.rules.count == RuleSet.maximumRules)
    #expect(content.problems.last?.problem.contains("more than 1000 rules") == true)
  }

  @Test(.enabled(if: getuid() == 0, "only root owns the administrator's rules"))
  func `any number of mistakes leaves the rules of the other files in force`() throws {
    let wrong = (0..<300).map { "[Rule \($0)]\nText=a\n" }.joined()
    let first = try write(wrong, to: "00.conf")
    _ = try write(wrong, to: "05.conf")
    _ = try write("[Rule mine]\nText=a\nIgnore=yes\n", to: "10.conf")
    try directory.write("[Rule system]\nText=a\nIgnore=yes\n\(wrong)", to: "etc/00.conf")
    let content = files.read()
    #expect(content.rules.map(\.name) == ["mine", "system"])
    #expect(content.problems.count == RuleFile.maximumProblems)
    #expect(content.problems.allSatisfy { $0.file == first })
  }

  @Test(.enabled(if: getuid() == 0, "only root owns the administrator's rules"))
  func `a rule is removed from its file`() throws {
    let path = try write("# mine\n[Rule a]\nText=a\nShow=yes\n[Rule b]\nText=b\nShow=yes\n")
    try directory.write("[Rule system]\nText=a\nShow=yes\n", to: "etc/00.conf")
    #expect(try files.remove("a") == path)
    #expect(try files.remove("a") == nil)
    #expect(files.read().rules.map(\.name) == ["b", "system"])
    let text = String(decoding: try readFile(path), as: UTF8.self)
    #expect(text == "# mine\n[Rule b]\nText=b\nShow=yes\n")
    let error = #expect(throws: KeyFileError.self) { try files.remove("system") }
    #expect(error?.problem == "the rule is the administrator's")
  }

  @Test func `a rule is removed although another one of the file has a mistake`() throws {
    let broken = "[Rule b]\nText=b\nnonsense\nShow=yes\n"
    let path = try write("[Rule a]\nText=a\nRun=mpc;\nOnRemove=mpc;stop;\nSound=complete\n\(broken)")
    #expect(try files.remove("a") == path)
    #expect(String(decoding: try readFile(path), as: UTF8.self) == broken)
  }

  @Test(arguments: ["[Rule  a]\nText=b\nShow=yes\n", "[Rule a]\nText=a\nShow=yes\n"])
  func `of several rules with one name, none is removed`(other: String) throws {
    let text = "[Rule a]\nText=a\nShow=yes\n"
    let isInOneFile = other.contains("  ")
    let path = try write(isInOneFile ? text + other : text)
    if !isInOneFile { _ = try write(other, to: "b.conf") }
    let error = #expect(throws: KeyFileError.self) { try files.remove("a") }
    #expect(error?.problem == "there are 2 rules with this name")
    #expect(String(decoding: try readFile(path), as: UTF8.self) == (isInOneFile ? text + other : text))
  }

  @Test func `a link to a file of the user is followed, but no rule is removed behind it`() throws {
    let target = try directory.write(Self.rule, to: "dotfiles/rules", mode: 0o600)
    let link = directory.file("config/tagroute/rules.d/link.conf")
    try #require(symlink(target, link) == 0)
    let error = #expect(throws: KeyFileError.self) { try files.remove("a") }
    #expect(error?.file == link && error?.problem.contains("is a link") == true)
    #expect(files.read().rules.map(\.name) == ["a"])
  }

  /// Two writers: the lock is that of `RuleWriter`.
  @Test func `no rule is removed while another program changes the files`() throws {
    _ = try write(Self.rule)
    let folder = open(directory.file("config/tagroute/rules.d"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    try #require(folder >= 0)
    try #require(flock(folder, LOCK_EX | LOCK_NB) == 0)
    let rule = try #require(files.read().rules.first)
    var writer = RuleWriter(files, file: "a.conf")
    writer.attempts = 1
    let error = #expect(throws: KeyFileError.self) { try writer.remove(rule) }
    #expect(error?.problem == "is being changed by another program")
    close(folder)
    #expect(try files.remove("a") != nil)
  }

  @Test func `the hash is the one that sha256sum prints`() {
    #expect(
      MessageDigest.sha256(Array("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }
}
