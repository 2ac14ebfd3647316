import Bus
import EventLoop
import NDEF
import Names
import TestRig
import Testing

/// UID, technology, reader and time, from the simulated tag to the app.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TagDetailsTests {
  private static let keys = ["uid", "technology", "reader", "time"]
  private static let variables = ["TAGROUTE_UID", "TAGROUTE_TECHNOLOGY", "TAGROUTE_READER", "TAGROUTE_TIME"]

  /// Stores the variables of this project in a new file. Prints the name of the file to the agent's log.
  private static let recorder = """
    #!/bin/sh
    file=$(mktemp "$0.XXXXXX") && { env | grep '^TAGROUTE_[URT][IE]' | sort; cat > /dev/null; } > "$file"
    echo "recorded $file" >&2
    """

  private func recorded(_ desktop: Desktop, by program: String) async throws -> [String: String] {
    let line = try await desktop.agent.line { $0.hasPrefix("recorded /") && $0.contains(program) }
    let text = String(decoding: try readFile(String(line.dropFirst("recorded ".count))), as: UTF8.self)
    let pairs = text.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
    return Dictionary(pairs.compactMap { $0.count == 2 ? ($0[0], $0[1]) : nil }) { first, _ in first }
  }

  /// The tap as the inbox has it.
  private func stored(_ desktop: Desktop, _ id: String?) async throws -> [String: Value] {
    let client = try await Connection.open(desktop.sessionBus, on: EventLoop(label: "test-client"))
    let reply = try await client.call(
      Names.Agent.busName, try ObjectPath(Names.Agent.path), Names.Agent.interface, "ListInbox",
      [.dictionary(id.map { ["id": .string($0)] } ?? ["messages": .boolean(true)])])
    return try #require(reply.first?.asArray?.first?.asDictionary)
  }

  @Test func `an app gets the tag's values, and the stored ones if the tap is opened again`() async throws {
    let (desktop, server) = try await Desktop.started()
    await desktop.app.set(.refuses)
    try await desktop.place(try Tag(1))
    try await server.click(desktop.notification(on: server))
    let first = try await desktop.handed().platformData
    #expect(first["uid"] == .bytes([4, 0, 0, 0, 0, 0, 1]) && first["technology"] == .string("type-2"))
    let tap = try await stored(desktop, first["tap-id"]?.asString)
    for key in Self.keys { #expect(first[key] != nil && first[key] == tap[key], "\(key)") }

    // The tag is gone, and another agent opens the tap from the inbox.
    try await desktop.remove()
    try await desktop.agent.exit(after: 15)
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
    await desktop.app.set(.takes)
    let id = try #require(first["tap-id"]?.asString)
    #expect(try await desktop.installation.start("tagroute", ["inbox", "open", id]).exit() == .exited(0))
    let second = try await desktop.handed().platformData
    for key in Self.keys + ["tap-id"] { #expect(second[key] == first[key], "\(key)") }
  }

  @Test func `a started program has the values in its environment, and a browser has none`() async throws {
    let desktop = try await Desktop(isSystems: false)
    let directory = desktop.installation.directory
    let program = try directory.write(Self.recorder, to: "store", mode: 0o755)
    try directory.write(
      """
      [Desktop Entry]
      Type=Application
      Name=Files
      Exec=\(program) %u
      Implements=org.tagroute.Handler1;

      [org.tagroute.Handler1]
      Domains=files.example.org;
      """, to: "share/applications/org.example.Files.desktop")
    let browser = try directory.write(Self.recorder, to: "browser", mode: 0o755)
    try directory.write(
      "[Desktop Entry]\nType=Application\nName=Web\nExec=\(browser) %u\nMimeType=x-scheme-handler/https;\n",
      to: "share/applications/web.desktop")
    try directory.write("[Default Applications]\nx-scheme-handler/https=web.desktop\n", to: "config/mimeapps.list")
    let server = try await desktop.startWithServer()

    try await desktop.place(try Tag(0xA2195A, uri: "https://files.example.org/1"))
    let shown = try await desktop.notification(on: server)
    // If the tests do not run as root, the entry is not installed by the system, and the agent asks the user.
    try await server.click(shown, action: shown.actions.contains("allow") ? "allow" : "open")
    let variables = try await recorded(desktop, by: "/store.")
    let tap = try await stored(desktop, nil)
    #expect(
      variables == [
        "TAGROUTE_UID": "04-00-00-00-A2-19-5A", "TAGROUTE_TECHNOLOGY": "type-2",
        "TAGROUTE_READER": tap["reader"]?.asString ?? "", "TAGROUTE_TIME": tap["time"]?.asUInt64.map(String.init) ?? "",
      ])
    #expect(Set(variables.keys) == Set(Self.variables))

    // A browser that no handler precedes, and a browser that the user prefers to a handler.
    for (number, uri) in ["https://elsewhere.example.net/a", "https://menu.example.com/2"].enumerated() {
      try await desktop.place(try Tag(number + 2, uri: uri))
      let shown = try await desktop.notification(on: server)
      let agent = try await desktop.agent
      let seen = await agent.log().count
      try await server.click(shown, action: number == 0 ? "default" : "alternative")
      let line = try await agent.line(after: seen) { $0.hasPrefix("recorded /") }
      #expect(line.contains("/browser."))
      #expect(try readFile(String(line.dropFirst("recorded ".count))).isEmpty, "\(uri)")
    }
  }
}
