import EventLoop
import Glibc
import TagrouteClient
import TestKit
import Testing

/// Changes the configuration of running programs, with a reader, a tag and an app.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReloadTests {
  private static let isRead = "the configuration was read again: "

  @Test func `both programs keep their configuration if the file has an error, and reload the fixed file`() async throws
  {
    let (desktop, server) = try await Desktop.started()
    let (daemon, reader) = (try await desktop.daemon, try await desktop.reader)
    let directory = desktop.installation.directory
    let good = String(decoding: try readFile(directory.file("tagroute.conf")), as: UTF8.self)

    // A tag rests while the configuration changes.
    try await desktop.place(Tag(1))
    #expect(try await desktop.notification(on: server).body.contains(Tag.text(1)))
    try directory.write(good + "[Tags]\nSmartPosters=perhaps\n", to: "tagroute.conf")
    daemon.signal(SIGHUP)
    try await daemon.line(containing: "until then the previous configuration stays in force")
    try await desktop.status { $0.configurationError.contains("perhaps") }
    #expect(try await output(desktop, "status").contains("the previous one stays in force"))
    #expect(try await output(desktop, "doctor").contains("tagrouted uses the previous configuration"))

    try directory.write(good.replacing("[Reader]\n", with: "[Reader]\nTechnologies=type-2\n"), to: "tagroute.conf")
    daemon.signal(SIGHUP)
    try await daemon.line(containing: Self.isRead + "changed: Technologies")
    try await desktop.status { $0.configurationError.isEmpty && $0.scanning }
    // The resting tag was announced before. The same reader process ignores a tag of an unwanted type and reads the
    // next tag.
    try await desktop.remove()
    try await desktop.place(Tag(2, type: 4))
    try await daemon.line(containing: "is ignored: type-4a is not configured")
    try await desktop.place(Tag(3))
    #expect(try await desktop.notification(on: server).body.contains(Tag.text(3)))
    #expect(!reader.isGone)

    let agent = try await desktop.agent
    try directory.write("[Inbox]\nInbox=perhaps\n", to: "agent.conf")
    agent.signal(SIGHUP)
    try await agent.line(containing: "until then the previous configuration stays in force")
    // The file is fixed, but the agent has not reloaded it.
    try directory.write("[Inbox]\nInbox=off\n", to: "agent.conf")
    #expect(
      try await output(desktop, "doctor").contains(
        "tagroute-agent uses the previous configuration, because the new one has an error:"))
    #expect(try await output(desktop, "status").contains("agent.conf:2: "))
    agent.signal(SIGHUP)
    try await agent.line(containing: Self.isRead + "new are Inbox")
    #expect(try await !output(desktop, "doctor").contains("uses the previous configuration"))
    #expect(try await !output(desktop, "status").contains("agent.conf"))
  }

  private func output(_ desktop: Desktop, _ command: String) async throws -> String {
    try await desktop.installation.tagroute(command).output
  }
}
