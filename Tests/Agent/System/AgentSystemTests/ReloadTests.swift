import Bus
import EventLoop
import Glibc
import Names
import TestKit
import Testing

@testable import AgentTests

/// The real agent with an `agent.conf` that changes while it runs.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReloadTests {
  private static let isRead = "the configuration was read again: "

  private func write(_ text: String, _ rig: AgentRig) throws {
    try rig.installation.directory.write(text, to: "agent.conf")
  }

  private func tap(_ number: Int, _ uri: String, _ rig: AgentRig) async throws {
    try await rig.daemon.give(tapValues(number, message: try uriMessage(uri)))
  }

  @Test func `each changed setting applies to the next tap`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    try await tap(1, "https://menu.example.com/1", rig)
    #expect(try await server.next().timeout == -1)
    try write("[Notifications]\nTimeout=7\n[Links]\nSmartPosters=no\n", rig)
    agent.signal(SIGHUP)
    try await agent.line(containing: Self.isRead + "new are SmartPosters, Timeout")
    try await tap(2, "https://menu.example.com/2", rig)
    #expect(try await server.next().timeout == 7000)
    // The call does the same and returns when the settings are applied.
    try write("[Notifications]\nTimeout=8\n", rig)
    _ = try await rig.call("Reload")
    try await tap(3, "https://menu.example.com/3", rig)
    #expect(try await server.next().timeout == 8000)
    _ = try await rig.call("Reload")
    try await agent.line(containing: Self.isRead + "nothing has changed")
  }

  @Test func `with the inbox off only taps on the screen are kept, and turning it on keeps taps again`()
    async throws
  {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    let file = rig.installation.directory.file("state/tagroute/inbox.sqlite")
    let signals = try await rig.signals()
    try await tap(1, "https://menu.example.com/1", rig)
    try await server.click(try await server.next())
    #expect(await signals.closed(1) == "delivered")
    try await tap(2, "https://menu.example.com/2", rig)
    let shown = try await server.next()
    #expect(access(file, F_OK) == 0)

    try write("[Inbox]\nInbox=off\n", rig)
    _ = try await rig.call("Reload")
    #expect(access(file, F_OK) != 0)
    #expect(try await rig.state(2) == "shown")
    #expect(try await rig.tap(1).isEmpty)
    try await server.click(shown)
    #expect(await signals.closed(2) == "delivered")
    #expect(try await rig.call("ListInbox", [.dictionary([:])]).first?.asArray?.isEmpty == true)
    try await tap(3, "https://menu.example.com/3", rig)
    let third = try await server.next()

    try write("", rig)
    _ = try await rig.call("Reload")
    #expect(access(file, F_OK) == 0)
    #expect(try await rig.state(3) == "shown")
    try await server.click(third)
    #expect(await signals.closed(3) == "delivered")
    #expect(try await rig.state(3) == "delivered")
    // The tap is in the file, so the next agent has it.
    try await agent.exit(after: SIGTERM)
    try await rig.startAgent()
    #expect(try await rig.state(3) == "delivered")
  }

  @Test func `a broken file keeps the former settings, and the caller gets the error`() async throws {
    let rig = try await AgentRig()
    let server = try await rig.startServer()
    try write("[Notifications]\nTimeout=7\n", rig)
    let agent = try await rig.startAgent()
    let time = try #require(try await rig.property("ConfigurationTime")?.asUInt64)
    #expect(try await rig.property("ConfigurationError")?.asString == "")
    try write("[Notifications]\nTimeout=8\n[Inbox]\nInbox=perhaps\n", rig)
    agent.signal(SIGHUP)
    try await agent.line(containing: "agent.conf:4: ")
    try await agent.line(containing: "until then the previous configuration stays in force")
    let error = await #expect(throws: BusError.self) { try await rig.call("Reload") }
    #expect(error?.name == Names.Errors.invalidConfiguration)
    #expect(error?.message.contains("agent.conf:4: ") == true)
    #expect(try await rig.property("ConfigurationError")?.asString == error?.message)
    #expect(try await rig.property("ConfigurationTime")?.asUInt64 == time)
    try await tap(1, "https://menu.example.com/1", rig)
    #expect(try await server.next().timeout == 7000)
    // A call about handlers still gets its reply.
    let handlers = try await rig.installation.start("tagroute", ["handlers", "--check"])
    #expect(try await handlers.exit() == .exited(0))
    try write("[Notifications]\nTimeout=9\n", rig)
    _ = try await rig.call("Reload")
    try await tap(2, "https://menu.example.com/2", rig)
    #expect(try await server.next().timeout == 9000)
    #expect(try await rig.property("ConfigurationError")?.asString == "")
    #expect(try #require(try await rig.property("ConfigurationTime")?.asUInt64) > time)
  }

  @Test func `listing handlers does not apply a changed configuration`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    let file = rig.installation.directory.file("state/tagroute/inbox.sqlite")
    try await tap(1, "https://menu.example.com/1", rig)
    _ = try await server.next()
    try write("[Inbox]\nInbox=off\n", rig)
    for arguments in [["handlers"], ["handlers", "--check"], ["doctor"]] {
      try await rig.installation.start("tagroute", arguments).exit()
      #expect(access(file, F_OK) == 0, "\(arguments)")
    }
    #expect(await !agent.log().contains { $0.contains(Self.isRead) })
    _ = try await rig.call("Reload")
    #expect(access(file, F_OK) != 0)
  }

  @Test func `a check reports errors without a bus`() async throws {
    let directory = try TemporaryDirectory()
    let program = try BuiltProducts.program("tagroute-agent")
    let file = try directory.write("[Inbox]\nInbox=perhaps\n", to: "agent.conf")
    let wrong = try await ChildProcess.run(program, ["--check", "--config", file], environment: [:])
    #expect(wrong.status == .exited(Names.ExitCode.configuration))
    #expect(wrong.log.first?.hasPrefix("tagroute-agent: \(file):2: ") == true)
    try directory.write("[Inbox]\nInbox=off\n", to: "agent.conf")
    let right = try await ChildProcess.run(program, ["--check", "--config", file], environment: [:])
    #expect(right.status == .exited(0) && right.log.isEmpty && right.output.isEmpty)
  }
}

/// Settings that make the real agent start or stop an activity while it runs.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LiveSettingsTests {
  private func reload(_ text: String, _ rig: AgentRig) async throws {
    try rig.installation.directory.write(text, to: "agent.conf")
    _ = try await rig.call("Reload")
  }

  @Test func `a reload starts and stops the watch for cameras`() async throws {
    let rig = try await AgentRig()
    let camera = open(try rig.installation.directory.write("", to: "dev/video0"), O_RDONLY | O_CLOEXEC)
    defer { close(camera) }
    try await rig.startAgent()
    var reports = rig.daemon.reports.makeAsyncIterator()
    #expect(await reports.next()?[Names.Condition.camera] == nil)
    try await reload("[Scan]\nSuspendForCamera=yes\n", rig)
    while let report = await reports.next(), report[Names.Condition.camera] != true {}
    try await reload("", rig)
    // An unknown condition is omitted.
    while let report = await reports.next(), report[Names.Condition.camera] != nil {}
    try await reload("[Scan]\nSuspendForCamera=yes\n", rig)
    while let report = await reports.next(), report[Names.Condition.camera] != true {}
  }

  @Test func `new schemes apply to the next tap and to taps on the screen`() async throws {
    let rig = try await AgentRig()
    let directory = rig.installation.directory
    try directory.write(
      "[Desktop Entry]\nType=Application\nName=Burrow\nExec=/bin/true %u\nMimeType=x-scheme-handler/burrow;\n",
      to: "share/applications/org.example.Burrow.desktop")
    try directory.write(
      "[Default Applications]\nx-scheme-handler/burrow=org.example.Burrow.desktop\n", to: "config/mimeapps.list")
    let server = try await rig.startServerAndAgent()
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
  }

  @Test func `tags without a message are shown if the setting says so, and the inbox has them all`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let uid: [UInt8] = [0x04, 0xA2, 0x19, 0x5A]
    let agent = try await rig.agent
    try await rig.daemon.give(tapValues(1, message: [], uid: uid))
    let tap = try await rig.tap(1)
    #expect(tap["state"] == .string("dismissed") && tap["state-reason-code"] == .string("ignored"))
    #expect(tap["title"] == .string("Tag without a message") && tap["message"] == .bytes([]))
    #expect(try await rig.tagroute("inbox", "show", tapID(1)).output.contains("on the tag: no message\n"))
    try rig.installation.directory.write("[Notifications]\nBareTags=show\n", to: "agent.conf")
    _ = try await rig.call("Reload")
    try await rig.daemon.give(tapValues(2, message: [], uid: uid))
    #expect(try await server.next().body == "04A2195A")
    #expect(await !agent.log().contains { $0.contains("04-A2") })
  }

  @Test func `a reload starts and stops asking domains, and the end of the agent stops it too`()
    async throws
  {
    let rig = try await AgentRig()
    let directory = rig.installation.directory
    // The agent starts the command line tool in its own folder.
    let agentProgram = directory.file("tagroute-agent")
    let copy = try await ChildProcess.run("/bin/cp", [try BuiltProducts.program("tagroute-agent"), agentProgram])
    try #require(copy.status == .exited(0), "\(copy.log)")
    try directory.write("#!/bin/sh\necho $$ \"$@\" >\"${0%/*}/asking\"\nexec sleep 300\n", to: "tagroute", mode: 0o755)
    try #require(mkfifo(directory.file("asking"), 0o600) == 0)
    let agent = try await rig.installation.start(agentProgram, ["--config", directory.file("agent.conf")])
    try await agent.line(containing: "registered with the daemon")
    for isEnd in [false, true] {
      try await reload("[Links]\nVerify=on\n", rig)
      let process = try await asking(directory)
      // A second reload does not start a second process.
      _ = try await rig.call("Reload")
      #expect(try agent.children().map(\.identifier) == [process.identifier])
      if isEnd { agent.signal(SIGTERM) } else { try await reload("", rig) }
      try await process.end()
    }
    #expect(try await agent.exit() == .exited(0))
  }

  private func asking(_ directory: TemporaryDirectory) async throws -> ForeignProcess {
    let words = try await DedicatedThread.run { try? readFile(directory.file("asking")) }
    let line = String(decoding: try #require(words), as: UTF8.self).split(whereSeparator: \.isWhitespace)
    #expect(line.dropFirst() == ["handlers", "verify", "--due"])
    return try ForeignProcess(try #require(line.first.flatMap { Int32($0) }))
  }
}
