import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

/// A whole station: a simulated reader, the real daemon with `StationUser=`, and the real agent with `--headless`.
/// There is no session at logind, no notification server and no display.
@Suite(.timeLimit(.minutes(3)), StopsAtEnd()) struct StationTests {
  private struct Station {
    let desktop: Desktop
    let logind: LogindStandIn
    let user: String
    private let pipe: String

    init(starter: String = #function) async throws {
      let entry = try #require(getpwuid(getuid()), "the user of the tests has no name")
      user = String(cString: entry.pointee.pw_name)
      desktop = try await Desktop(scan: ["StationUser=\(user)"], agentArguments: ["--headless"], starter: starter)
      let directory = desktop.installation.directory
      pipe = directory.file("recorded")
      try #require(mkfifo(pipe, 0o600) == 0)
      let program = try directory.write(
        "#!/bin/sh\n{ printf '%s\\n' \"$TAGROUTE_UID\"; exec cat; } > '\(pipe)'\n", to: "recorder", mode: 0o755)
      try directory.write(
        "[Rule door]\nLink=https://menu.example.com/*\nRun=\(program);\nAsk=no\n",
        to: "config/tagroute/rules.d/station.conf")
      logind = try await LogindStandIn.start(on: desktop.systemBus)
      try await desktop.start()
      try await desktop.status(\.scanning)
    }

    func recorded() async throws -> [UInt8] {
      try await desktop.within("the program of the rule") { [pipe] in
        try await DedicatedThread.run { Result { try readFile(pipe) } }.get()
      }
    }
  }

  @Test func `a tag runs a rule on a machine where nobody is logged in, and a visitor takes the reader`() async throws {
    let station = try await Station()
    let desktop = station.desktop
    let lines = try await desktop.installation.output("status").split(separator: "\n")
    #expect(lines.prefix(2) == ["scanning", "station: taps go to user \(station.user)"])
    #expect(lines.contains { $0.hasPrefix("agent without a desktop ") && $0.hasSuffix(": registered") })
    let findings = try await desktop.findings().findings
    #expect(
      findings.first { $0.subject == "station" }?.text == "this machine is a station: taps go to user \(station.user)")
    for subject in ["notifications", "agent-unit"] { #expect(!findings.contains { $0.subject == subject }) }
    let tag = try Tag(1)
    try await desktop.place(tag)
    let recorded = try await station.recorded()
    #expect(recorded == Array("04-00-00-00-00-00-01\n".utf8) + tag.message)
    try await desktop.remove()

    // Another user logs in at the machine.
    var visitor = LogindStandIn.Session(id: "7", uid: getuid() + 1)
    visitor.type = "tty"
    try await station.logind.add(visitor)
    let away = try await desktop.status { !$0.stationActive && $0.suspendReasons.contains("session-not-graphical") }
    #expect(away.stationUser == station.user)
    #expect(away.suspendReasons == ["no-agent", "session-not-graphical"])
    try await desktop.place(try Tag(2))
    try await desktop.installation.simulate("remove")
    try await station.logind.remove("7")
    try await desktop.status { $0.scanning && $0.stationActive }
    try await desktop.place(try Tag(3))
    #expect(try await station.recorded().starts(with: Array("04-00-00-00-00-00-03\n".utf8)))

    let taps = try #require(try await station.desktop.installation.json("inbox") as? [[String: Any]])
    #expect(taps.count == 2, "the tag of the visitor's time is not the station's")
  }

  /// The user of this station is not the user of the tests, as for an administrator.
  @Test(.enabled(if: getuid() == 0, "needs root"))
  func `root reads and writes tags while nobody is logged in, and learns where the inbox is`() async throws {
    let desktop = try await Desktop(scan: ["StationUser=nobody"])
    let installation = desktop.installation
    let logind = try await LogindStandIn.start(on: desktop.systemBus)
    _ = try await PolkitStandIn.start(
      on: desktop.systemBus, allowing: [Names.PolkitAction.readTags, Names.PolkitAction.writeTags])
    try await installation.startSimulator()
    try await installation.startDaemon()
    try await desktop.daemon.line(containing: Desktop.readerReady)
    try await desktop.status(\.stationActive)
    try await desktop.place(try Tag(1))
    #expect(try await installation.output("read").contains(Tag.text(1)))
    _ = try await installation.output("write", "--uri", "https://lamp.example.com/on")
    #expect(try await installation.output("read").contains("lamp.example.com/on"))
    #expect(try await installation.object("info")["technology"] as? String == "type-2")

    for (words, quoted) in [
      (["inbox"], "inbox"), (["inbox", "show", "1"], "inbox show 1"),
      (["resolve", "https://a.example/?b&c"], "resolve 'https://a.example/?b&c'"),
    ] {
      let result = try await installation.tagroute(words)
      #expect(result.status == .exited(Names.ExitCode.unavailable))
      let command = "sudo -u nobody XDG_RUNTIME_DIR=/run/user/$(id -u nobody) tagroute \(quoted)"
      #expect(result.errors.last?.hasSuffix(command) == true, "\(result.errors)")
    }

    try await logind.add(LogindStandIn.Session(id: "7", uid: 4711))
    try await desktop.status { !$0.stationActive }
    #expect(try await installation.tagroute("read").status == .exited(Names.ExitCode.notAllowed))
  }

  @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "there is no python3"))
  func `the health file says what status says, and that the daemon is gone`() async throws {
    let station = try await Station()
    let desktop = station.desktop
    let programs = try BuiltProducts.program("tagroute").split(separator: "/").dropLast().joined(separator: "/")
    let file = desktop.installation.directory.file("tagroute.prom")
    func health() async throws -> [Substring] {
      let environment = desktop.installation.environment.merging(["PATH": "/\(programs):/usr/bin:/bin"]) { $1 }
      let run = try await ChildProcess.run(
        "/usr/bin/python3", ["\(repositoryRoot)/Examples/station/tagroute-health", file], environment: environment)
      #expect(run.status == .exited(0), "\(run.log)")
      return String(decoding: try readFile(file), as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
    }
    let lines = try await health()
    for line in [
      "tagroute_up 1", "tagroute_scanning 1", "tagroute_station_active 1", "tagroute_agent_registered 1",
      "tagroute_configuration_error 0", "tagroute_info{version=\"\(Names.version)\"} 1",
    ] { #expect(lines.contains(Substring(line)), "\(lines)") }
    #expect(lines.contains { $0.hasPrefix("tagroute_reader_usable{reader=\"0\"") && $0.hasSuffix(" 1") })

    let daemon = try await desktop.daemon
    try await daemon.exit(after: SIGTERM)
    #expect(try await health() == ["tagroute_up 0"])
  }
}
