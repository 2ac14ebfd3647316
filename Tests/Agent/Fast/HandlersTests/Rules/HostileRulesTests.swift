import Glibc
import Handlers
import NDEF
import Names
import Rig
import Routing
import Settings
import Testing

/// Rules that other users may have changed, and tags with values that no tag should have.
@Suite(.timeLimit(.minutes(5))) struct HostileRulesTests {
  private static let rule = "[Rule a]\nUID=04-A2-19-5A\nShow=yes\n"
  private static let folder = "config/tagroute/rules.d"
  private let directory: TemporaryDirectory
  private let files: RuleFiles

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write("", to: "\(Self.folder)/.keep")
    files = RuleFiles(environment: ["XDG_CONFIG_HOME": directory.file("config")], system: directory.file("etc"))
  }

  private func link(_ target: String, _ name: String) throws {
    try #require(symlink(target, directory.file(name)) == 0)
  }

  // MARK: Files

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
    try directory.write(Self.rule, to: "\(Self.folder)/a.conf")
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
    try directory.write(Self.rule, to: "\(Self.folder)/a.conf")
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
    try directory.write(Self.rule, to: "\(Self.folder)/70.conf")
    let content = files.read()
    #expect(content.rules.map(\.file) == [directory.file("\(Self.folder)/70.conf")])
    #expect(content.problems.count == 6, "\(content.problems)")
    #expect(content.problems.first?.problem.contains("other users can change it") == true)
  }

  // MARK: Values

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
        let facts = TapFacts(uid: (0..<other).map { UInt8($0 + 1) })
        let decision = RuleSet(file.rules).decision(for: facts, link: nil)
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
          let route = Registry().route(for: TapFacts(message: message), rules: RuleSet(file.rules))
          #expect(route.rule == nil && route.kind == .none && route.record == nil, "U+\(control) at \(place)")
          let words = [route.reason] + route.steps.map(\.finding)
          #expect(words.allSatisfy { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } })
          #expect(Registry.typeOfDefault(for: message) == nil)
        }
      }
    }
  }
}
