import Glibc
import NDEF
import Names
import Rig
import Routing
import Settings
import Testing

@testable import Handlers

@Suite(.timeLimit(.minutes(5))) struct RuleFilesTests {
  private static let rule = "[Rule a]\nUID=04-A2-19-5A\nShow=yes\n"
  private static let folder = "config/tagroute/rules.d"
  private let directory: TemporaryDirectory
  private let files: RuleFiles

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("", to: "config/tagroute/rules.d/.keep")
    files = RuleFiles(environment: ["XDG_CONFIG_HOME": directory.file("config")], system: directory.file("etc"))
  }

  private func write(_ text: String, to name: String = "a.conf", mode: UInt32 = 0o644) throws -> String {
    let path = try directory.write(text, to: "\(Self.folder)/\(name)", mode: mode)
    try #require(chmod(path, mode) == 0)
    return path
  }

  private func link(_ target: String, _ name: String) throws {
    try #require(symlink(target, directory.file(name)) == 0)
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
    try #require(chmod(directory.file(Self.folder), 0o777) == 0)
    #expect(files.read().rules.isEmpty)
    #expect(files.read().problems.count == 1)
  }

  @Test func `a folder that cannot be read is reported, and one that does not exist is not`() throws {
    func read(_ name: String) -> RuleFiles.Content {
      RuleFiles(environment: ["XDG_CONFIG_HOME": directory.file(name)], system: directory.file("etc")).read()
    }
    #expect(read("none") == RuleFiles.Content())
    try directory.write("", to: "file/tagroute/rules.d")
    let place = directory.file("file/tagroute/rules.d")
    #expect(
      read("file").problems.map(\.description)
        == ["\(place): cannot be read (Not a directory): make it a readable folder"])
    #expect(read("file/tagroute/rules.d").problems.count == 1)
  }

  /// A user with permission to rename the directory can put another one in its place.
  @Test(arguments: ["config/tagroute", "config"])
  func `a directory below one that others can write is ignored`(above: String) throws {
    _ = try write(Self.rule)
    #expect(files.read().rules.count == 1)
    try #require(chmod(directory.file(above), 0o777) == 0)
    #expect(files.read().rules.isEmpty)
    #expect(files.read().problems.first?.problem.contains("a folder above it") == true)
    // In a directory with the sticky bit, users cannot rename the files of others.
    try #require(chmod(directory.file(above), 0o1777) == 0)
    #expect(files.read().rules.count == 1 && files.read().problems.isEmpty)
  }

  @Test(.enabled(if: getuid() == 0, "only root owns such files"))
  func `a file of another user is ignored, also behind a link`() throws {
    let other = try directory.write(Self.rule, to: "other.conf")
    try #require(chown(other, 12345, 12345) == 0)
    try link(other, "\(Self.folder)/link.conf")
    let path = try write(Self.rule)
    try #require(chown(path, 12345, 12345) == 0)
    let content = files.read()
    #expect(content.rules.isEmpty)
    #expect(content.problems.count == 2)
    #expect(content.problems.allSatisfy { $0.problem.contains("another user") })
  }

  @Test func `pipes, directories, devices and large files do not hold up the others`() throws {
    let folder = directory.file(Self.folder)
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
    let link = directory.file("\(Self.folder)/link.conf")
    try #require(symlink(target, link) == 0)
    let error = #expect(throws: KeyFileError.self) { try files.remove("a") }
    #expect(error?.file == link && error?.problem.contains("is a link") == true)
    #expect(files.read().rules.map(\.name) == ["a"])
  }

  /// Two writers: the lock is that of `RuleWriter`.
  @Test func `no rule is removed while another program changes the files`() throws {
    _ = try write(Self.rule)
    let folder = open(directory.file(Self.folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
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

  // MARK: Files that other users may have changed

  @Test(.enabled(if: getuid() == 0, "only root owns such files"))
  func `the administrator's rules and their directory belong to root`() throws {
    try directory.write(Self.rule, to: "etc/good.conf")
    let path = try directory.write(Self.rule.replacing("Rule a", with: "Rule b"), to: "etc/other.conf")
    try #require(chown(path, 12345, 0) == 0)
    let content = files.read()
    #expect(content.rules.map(\.name) == ["a"] && content.rules.map(\.origin) == [.system])
    #expect(content.problems.map(\.file) == [path])
    #expect(content.problems.first?.remedy == "make root the owner")
    try #require(chown(directory.file("etc"), 12345, 0) == 0)
    let none = files.read()
    #expect(none.rules.isEmpty && none.problems.map(\.file) == [directory.file("etc")])
  }

  @Test(.enabled(if: getuid() == 0, "only root owns such files"))
  func `a directory of another user is ignored, also behind a link`() throws {
    _ = try write(Self.rule)
    let path = directory.file(Self.folder)
    try #require(rename(path, directory.file("moved")) == 0)
    try link(directory.file("moved"), Self.folder)
    #expect(files.read().rules.map(\.name) == ["a"])
    try #require(chown(directory.file("moved"), 12345, 12345) == 0)
    let content = files.read()
    #expect(content.rules.isEmpty && content.problems.count == 1)
    #expect(content.problems.first?.problem.contains("another user") == true)
  }

  @Test(arguments: [0o020, 0o002, 0o022] as [UInt32])
  func `the administrator's files are ignored if others can write them, and the user's hold`(bits: UInt32) throws {
    _ = try write(Self.rule)
    let path = try directory.write(Self.rule, to: "etc/b.conf", mode: 0o644 | bits)
    try #require(chmod(path, 0o644 | bits) == 0)
    let content = files.read()
    #expect(content.rules.map(\.origin) == [.user])
    // Without root, the directory itself belongs to the wrong user.
    #expect(content.problems.map(\.file) == [getuid() == 0 ? path : directory.file("etc")])
  }

  @Test func `a link to a file that others can write, and links that lead nowhere, are ignored`() throws {
    let target = try directory.write(Self.rule, to: "shared", mode: 0o666)
    try #require(chmod(target, 0o666) == 0)
    try link(target, "\(Self.folder)/10.conf")
    try link("20.conf", "\(Self.folder)/20.conf")
    try link("40.conf", "\(Self.folder)/30.conf")
    try link("30.conf", "\(Self.folder)/40.conf")
    try link("/proc/self/mem", "\(Self.folder)/50.conf")
    try link(".", "\(Self.folder)/60.conf")
    _ = try write(Self.rule, to: "70.conf")
    let content = files.read()
    #expect(content.rules.map(\.file) == [directory.file("\(Self.folder)/70.conf")])
    #expect(content.problems.count == 6, "\(content.problems)")
    #expect(content.problems.first?.problem.contains("other users can change it") == true)
  }

  @Test func `the hash is the one that sha256sum prints`() {
    #expect(
      MessageDigest.sha256(Array("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }
}

/// Tags with values that no tag should have.
@Suite(.timeLimit(.minutes(5))) struct HostileValuesTests {
  @Test func `a UID has 4 to 10 bytes, in a rule and for a program`() throws {
    for count in 0...64 {
      let uid = (0..<count).map { UInt8($0 + 1) }
      let isUID = UIDText.lengths.contains(count)
      let text = UIDText.text(uid)
      #expect(UIDText.bytes(text) == (isUID ? uid : nil))
      let file = RuleFile(Array("[Rule a]\nUID=\(text)\nShow=yes\n".utf8), file: "f", origin: .user)
      #expect(file.rules.count == (isUID ? 1 : 0) && file.problems.count == (isUID ? 0 : 1), "\(count) bytes")
      // A tag with another number of bytes has another UID, also if one begins with the other.
      for other in 0...64 {
        let read = TagRead(uid: (0..<other).map { UInt8($0 + 1) })
        let decision = RuleSet(file.rules).decision(for: read, link: nil)
        #expect((decision.rule != nil) == (isUID && other == count), "\(count) and \(other) bytes")
      }
    }
  }

  /// Every control character, at each place of a type.
  @Test func `a type with a control character meets no condition on the type`() throws {
    let file = RuleFile(
      Array("[Rule a]\nMimeType=text/vcard\nShow=yes\n[Rule b]\nExternalType=example.com:a\nShow=yes\n".utf8),
      file: "f", origin: .user)
    #expect(file.rules.count == 2)
    for control in (0x00...0x9F as ClosedRange<UInt32>) where control < 0x20 || control > 0x7E {
      let scalar = try #require(Unicode.Scalar(control))
      for (format, type) in [(TypeNameFormat.mediaType, "text/vcard"), (TypeNameFormat.external, "example.com:a")] {
        for place in 0...type.count {
          let record = NDEFRecord(
            typeNameFormat: format, type: Array("\(type.prefix(place))\(scalar)\(type.dropFirst(place))".utf8))
          let message = NDEFMessage(records: [record])
          let route = Registry().route(for: TagRead(message: message), rules: RuleSet(file.rules))
          #expect(route.rule == nil && route.kind == .none && route.record == nil, "U+\(control) at \(place)")
          let words = [route.reason] + route.steps.map(\.finding)
          #expect(words.allSatisfy { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } })
          #expect(Registry.typeOfDefault(for: message) == nil)
        }
      }
    }
  }
}
