import Glibc
import Rig
import Settings
import Testing

/// Settings of the agent as texts, and their changes in the user's file.
@Suite struct AgentSettingChangeTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("tagroute/agent.conf") }

  init() throws { directory = try TemporaryDirectory() }

  private func text() throws -> String { String(decoding: try readFile(path), as: UTF8.self) }
  private func write(_ text: String) throws { try directory.write(text, to: "tagroute/agent.conf") }

  private func shipped() throws -> String {
    String(decoding: try readFile("\(repositoryRoot)/Config/agent.conf"), as: UTF8.self)
  }

  /// A value of each setting that is not the default.
  private static let others: [String: String] = [
    "Links.Schemes": "https;tel", "Links.SmartPosters": "no", "Links.Verify": "on", "Scan.SuspendForCamera": "yes",
    "Notifications.Timeout": "30", "Notifications.Sound": "failures", "Notifications.BareTags": "show",
    "Inbox.Inbox": "off", "Inbox.RetentionDays": "7", "Inbox.MaximumTaps": "20",
  ]

  @Test func `each default has the text of the shipped file`() throws {
    let shipped = try shipped()
    let texts = AgentConfiguration().texts
    #expect(texts.map(\.name).sorted() == Self.others.keys.sorted())
    for text in texts {
      let key = text.name.split(separator: ".").last ?? ""
      #expect(shipped.contains("\n#\(key)=\(text.defaultValue)\n") && text.value == text.defaultValue, "\(text)")
    }
  }

  @Test func `every setting can be changed in the shipped file, and back`() throws {
    try write(try shipped())
    try AgentConfiguration.change(path, Self.others.mapValues { $0 })
    let changed = try AgentConfiguration.load(only: path)
    #expect(Dictionary(uniqueKeysWithValues: changed.texts.map { ($0.name, $0.value) }) == Self.others)
    #expect(changed.texts.map(\.defaultValue) == AgentConfiguration().texts.map(\.value))
    #expect(AgentConfiguration.names(inFile: path) == Set(Self.others.keys))
    #expect(try text().split(separator: "\n").count == shipped().split(separator: "\n").count)
    #expect(try text().contains("\n# Timeout: server, never or") && text().contains("\nTimeout=30\n"))
    try AgentConfiguration.change(path, Self.others.mapValues { _ in nil })
    #expect(try text() == shipped())
    #expect(AgentConfiguration.names(inFile: path).isEmpty)
  }

  @Test func `a missing file is created, and not to reset a setting`() throws {
    try AgentConfiguration.change(path, ["Inbox.Inbox": nil])
    #expect(access(path, F_OK) != 0 && AgentConfiguration.names(inFile: path).isEmpty)
    try AgentConfiguration.change(path, ["Inbox.Inbox": "off", "Links.Schemes": "", "Notifications.Timeout": "never"])
    #expect(try text() == "[Links]\nSchemes=\n\n[Notifications]\nTimeout=never\n\n[Inbox]\nInbox=off\n")
    #expect(try AgentConfiguration.load(only: path).schemes.isEmpty)
    try AgentConfiguration.change(path, ["Inbox.Inbox": nil, "Inbox.MaximumTaps": "9"])
    #expect(try text().hasSuffix("[Inbox]\n#Inbox=on\nMaximumTaps=9\n"))
  }

  @Test(
    arguments: [
      (["Inbox.Taps": "1"], "there is no setting Inbox.Taps: use one of Links.Schemes, "),
      (["Inbox.Inbocks": "on"], "there is no setting Inbox.Inbocks: did you mean Inbox.Inbox?"),
      (["Inbox": "on"], "there is no setting Inbox: "), (["": nil], "there is no setting : "),
      (
        ["Inbox.MaximumTaps": "0"], "Inbox.MaximumTaps: MaximumTaps=0 is out of range: write a number of taps from 1 to"
      ),
      (["Inbox.MaximumTaps": ""], "Inbox.MaximumTaps: MaximumTaps= is not a whole number: write a number of taps"),
      (["Links.Schemes": "https;HTTP"], "Links.Schemes: \"HTTP\" is not a URI scheme: write lower-case names"),
      (["Notifications.Sound": "loud"], "Notifications.Sound: Sound=loud is not known: write off or on or failures"),
      (["Notifications.Timeout": "30\n[Inbox]\nInbox=off"], "Notifications.Timeout: is not the text of a value"),
      (["Notifications.Timeout": " 30"], "Notifications.Timeout: is not the text of a value"),
      (["Notifications.Timeout": "30\r"], "Notifications.Timeout: is not the text of a value"),
      (["Links.Verify": "on\u{0}"], "Links.Verify: is not text"),
      // Nothing of several changes is made.
      (
        ["Links.Verify": "on", "Inbox.Inbox": "perhaps"],
        "Inbox.Inbox: Inbox=perhaps is neither yes nor no: write on or"
      ),
    ] as [([String: String?], String)])
  func `an impossible change names the setting and what is possible`(changes: [String: String?], expected: String)
    throws
  {
    try write("[Inbox]\nInbox=on\n")
    let error = #expect(throws: SettingChangeError.self) { try AgentConfiguration.change(path, changes) }
    guard case .invalid(let text) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(text.hasPrefix(expected), "\(text)")
    #expect(try self.text() == "[Inbox]\nInbox=on\n")
  }

  @Test(arguments: [
    ("[Inbox]\nInbox=perhaps\n", 2), ("[Links]\nVerify=off\nwhat is this\n", 3), ("[Inbox]\nInbocks=on\n", 2),
    ("\n[Other]\n", 2),
  ])
  func `a file with a mistake is not changed, and the error has its line`(written: String, line: Int) throws {
    try write(written)
    let error = #expect(throws: SettingChangeError.self) {
      try AgentConfiguration.change(path, ["Links.Verify": "on", "Links.SmartPosters": "no"])
    }
    guard case .file(let mistake) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(mistake.line == line && mistake.file == path)
    #expect(try text() == written)
  }

  @Test func `a change may fix the mistake of the file`() throws {
    try write("# Mine\n[Inbox]\nInbox=perhaps\n")
    try AgentConfiguration.change(path, ["Inbox.Inbox": "off"])
    #expect(try text() == "# Mine\n[Inbox]\nInbox=off\n")
  }
}
