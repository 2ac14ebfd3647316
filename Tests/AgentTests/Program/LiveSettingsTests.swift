import Bus
import EventLoop
import Glibc
import Names
import TestSupport
import Testing

/// The real agent, and settings that have it begin something, or leave it, while it runs.
@Suite(.timeLimit(.minutes(5)))
struct LiveSettingsTests {
  private func reload(_ text: String, _ rig: AgentRig) async throws {
    try rig.installation.directory.write(text, to: "agent.conf")
    _ = try await rig.call("Reload")
  }

  @Test func `cameras are followed from then on, and no more`() async throws {
    let rig = try await AgentRig()
    let camera = open(try rig.installation.directory.write("", to: "dev/video0"), O_RDONLY | O_CLOEXEC)
    defer { close(camera) }
    try await rig.startAgent()
    var reports = rig.daemon.reports.makeAsyncIterator()
    #expect(await reports.next()?[Names.Condition.camera] == nil)
    try await reload("[Scan]\nSuspendForCamera=yes\n", rig)
    while let report = await reports.next(), report[Names.Condition.camera] != true {}
    try await reload("", rig)
    // What is not known is not in it.
    while let report = await reports.next(), report[Names.Condition.camera] != nil {}
    try await reload("[Scan]\nSuspendForCamera=yes\n", rig)
    while let report = await reports.next(), report[Names.Condition.camera] != true {}
    await rig.installation.stop()
  }

  @Test func `other schemes count for the next tap, and for what is on the screen`() async throws {
    let rig = try await AgentRig()
    let directory = rig.installation.directory
    try directory.write(
      "[Desktop Entry]\nType=Application\nName=Burrow\nExec=/bin/true %u\nMimeType=x-scheme-handler/burrow;\n",
      to: "share/applications/org.example.Burrow.desktop")
    try directory.write(
      "[Default Applications]\nx-scheme-handler/burrow=org.example.Burrow.desktop\n", to: "config/mimeapps.list")
    let server = try await rig.startServer()
    try await rig.startAgent()
    try await rig.daemon.give(tapValues(1, message: try uriMessage("burrow://example.com/1")))
    #expect(try await server.next().summary == "No app opens this link")
    try await reload("[Links]\nSchemes=https;burrow\n", rig)
    let shown = try await server.next()
    #expect(shown.summary == "Open in Burrow" && shown.replaces == 0)
    try await rig.daemon.give(tapValues(2, message: try uriMessage("burrow://example.com/2")))
    #expect(try await server.next().summary == "Open in Burrow")
    try await reload("[Links]\nSchemes=https\n", rig)
    for _ in 1...2 { #expect(try await server.next().summary == "No app opens this link") }
    #expect(
      try await rig.call("Resolve", [.string("burrow://example.com/3")]).first?.asDictionary?["kind"]
        == .string("none"))
    await rig.installation.stop()
  }

  @Test func `domains are asked from then on, and who is asking is ended where they are not to be, and with the agent`()
    async throws
  {
    let rig = try await AgentRig()
    let directory = rig.installation.directory
    // The agent starts the command line that is beside it.
    let agentProgram = directory.file("tagroute-agent")
    let copy = try await ChildProcess.run("/bin/cp", [try BuiltProducts.program("tagroute-agent"), agentProgram])
    try #require(copy.status == .exited(0), "\(copy.log)")
    try directory.write(
      "#!/bin/sh\necho $$ \"$@\" >\"${0%/*}/asking\"\nexec sleep 300\n", to: "tagroute", mode: 0o755)
    try #require(mkfifo(directory.file("asking"), 0o600) == 0)
    let agent = try await rig.installation.start(agentProgram, ["--config", directory.file("agent.conf")])
    try await agent.line(containing: "registered with the daemon")
    for isEnd in [false, true] {
      try await reload("[Links]\nVerify=on\n", rig)
      let process = try await asking(directory)
      // Read once more, it is not asked twice.
      _ = try await rig.call("Reload")
      #expect(try agent.children().map(\.identifier) == [process.identifier])
      if isEnd { agent.signal(SIGTERM) } else { try await reload("", rig) }
      try await process.end()
    }
    #expect(try await agent.exit() == .exited(0))
    await rig.installation.stop()
  }

  /// Waits for the command that asks.
  private func asking(_ directory: TemporaryDirectory) async throws -> ForeignProcess {
    let words = try await DedicatedThread.run { try? readFile(directory.file("asking")) }
    let line = String(decoding: try #require(words), as: UTF8.self).split(whereSeparator: \.isWhitespace)
    #expect(line.dropFirst() == ["handlers", "verify", "--due"])
    return try ForeignProcess(try #require(line.first.flatMap { Int32($0) }))
  }
}
