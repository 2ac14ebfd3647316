import Bus
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

@testable import AgentTests

/// The methods `GetSettings` and `ChangeSettings` of the real agent, as a window of preferences calls them.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SettingsInterfaceTests {
  private static let written = "# Mine\n[Notifications]\n# How long?\n#Timeout=server\n\n[Inbox]\nInbox=true\n"

  private func write(_ text: String, _ rig: AgentRig) throws {
    try rig.installation.directory.write(text, to: "agent.conf")
  }

  private func text(_ rig: AgentRig) throws -> String {
    String(decoding: try readFile(rig.installation.directory.file("agent.conf")), as: UTF8.self)
  }

  @Test func `a changed setting is in the file, which keeps its lines, and in force, and so is its default`()
    async throws
  {
    let rig = try await AgentRig()
    try write(Self.written, rig)
    let server = try await rig.startServerAndAgent()
    let client = try AgentClient(rig.client)
    let before = try await client.settings()
    #expect(before.count == 10)
    let inbox = try #require(before["Inbox.Inbox"])
    #expect(inbox.value == "on" && inbox.defaultValue == "on" && inbox.isSet)
    let timeout = try #require(before["Notifications.Timeout"])
    #expect(timeout.value == "server" && timeout.defaultValue == "server" && !timeout.isSet)

    try await client.changeSettings(["Notifications.Timeout": "7", "Links.Schemes": "https;tel"])
    let changed = Self.written.replacing("#Timeout=server", with: "Timeout=7") + "\n[Links]\nSchemes=https;tel\n"
    #expect(try text(rig) == changed)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/1")))
    #expect(try await server.next().timeout == 7000)
    let after = try await client.settings()
    #expect(after["Notifications.Timeout"]?.value == "7" && after["Notifications.Timeout"]?.isSet == true)
    #expect(after["Links.Schemes"]?.value == "https;tel")

    try await client.changeSettings(["Notifications.Timeout": nil])
    #expect(try text(rig) == changed.replacing("Timeout=7", with: "#Timeout=server"))
    try await rig.daemon.give(tapValues(2, message: try uriMessage("https://menu.example.com/2")))
    #expect(try await server.next().timeout == -1)
  }

  @Test func `a value that is not possible, and a broken file, are errors that change nothing`() async throws {
    let rig = try await AgentRig()
    try write(Self.written, rig)
    try await rig.startAgent()
    let client = try AgentClient(rig.client)
    for (changes, part) in [
      (
        ["Notifications.Timeout": "soon", "Inbox.Inbox": "off"],
        "Notifications.Timeout: Timeout=soon is not known: write"
      ),
      (["Notifications.Volume": "11"], "there is no setting Notifications.Volume"),
      (["Inbox.MaximumTaps": "1\n[Scan]"], "Inbox.MaximumTaps: is not the text of a value"),
    ] {
      let error = await #expect(throws: BusError.self) { try await client.changeSettings(changes) }
      #expect(
        error?.name == Names.Errors.invalidArgument && error?.message.hasPrefix(part) == true, "\(error?.message ?? "")"
      )
    }
    let twice = await #expect(throws: BusError.self) {
      let values = Value.dictionary(key: "s", value: "s", [DictionaryEntry(.string("Inbox.Inbox"), .string("off"))])
      _ = try await rig.call("ChangeSettings", [values, .strings(["Inbox.Inbox"])])
    }
    #expect(twice?.name == Names.Errors.invalidArgument)
    #expect(try text(rig) == Self.written)

    let broken = Self.written + "MaximumTaps=all\n"
    try write(broken, rig)
    let error = await #expect(throws: BusError.self) { try await client.changeSettings(["Links.Verify": "on"]) }
    #expect(error?.name == Names.Errors.invalidConfiguration)
    #expect(error?.message.contains("agent.conf:8: MaximumTaps=all is not a whole number") == true)
    #expect(try text(rig) == broken)
    #expect(try await client.settings()["Inbox.MaximumTaps"]?.value == "500")
    // A change of the broken setting is possible.
    try await client.changeSettings(["Inbox.MaximumTaps": "9"])
    #expect(try await client.settings()["Inbox.MaximumTaps"]?.value == "9")
    #expect(try await rig.property("ConfigurationError") == .string(""))

    let file = rig.installation.directory.file("agent.conf")
    try #require(unlink(file) == 0 && mkdir(file, 0o700) == 0)
    let failed = await #expect(throws: BusError.self) { try await client.changeSettings(["Links.Verify": "on"]) }
    #expect(failed?.name == Names.Errors.failed)
  }

  @Test func `changes at the same time are all made`() async throws {
    let rig = try await AgentRig.withAgent()
    let client = try AgentClient(rig.client)
    let values = [
      "Notifications.Sound": "on", "Notifications.BareTags": "show", "Inbox.RetentionDays": "3",
      "Links.SmartPosters": "no", "Scan.SuspendForCamera": "yes",
    ]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (name, value) in values { group.addTask { try await client.changeSettings([name: value]) } }
      try await group.waitForAll()
    }
    let settings = try await client.settings()
    #expect(settings.filter { values.keys.contains($0.key) }.mapValues(\.value) == values)
  }
}
