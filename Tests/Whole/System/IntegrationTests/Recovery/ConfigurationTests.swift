import EventLoop
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

/// Mistakes in a configuration file or on a command line: the error names the problem, its place and the remedy.
@Suite(.timeLimit(.minutes(5))) struct ConfigurationMistakeTests {
  struct Mistake: Sendable, CustomTestStringConvertible {
    let program: String
    let configuration: String
    let line: Int
    let problem: String
    let remedy: String

    var testDescription: String { "\(program): \(configuration.debugDescription)" }
  }

  private static let mistakes = [
    Mistake(
      program: "tagrouted", configuration: "[Scan]\n\nSesions=any\n", line: 3, problem: "no key Sesions",
      remedy: "Sessions"),
    Mistake(
      program: "tagroute-agent", configuration: "[Links]\nSchemes=https;javascript\n", line: 2,
      problem: "javascript", remedy: "leave it out"),
  ]

  @Test(arguments: mistakes) func `a configuration error names the file, the line and the remedy`(mistake: Mistake)
    async throws
  {
    let directory = try TemporaryDirectory()
    let file = try directory.write(mistake.configuration, to: "wrong.conf")
    let run = try await ChildProcess.run(
      BuiltProducts.program(mistake.program), ["--config", file], environment: ["HOME": directory.path])
    #expect(run.status == .exited(Names.ExitCode.configuration))
    #expect(run.output.isEmpty)
    let text = try #require(run.log.first)
    #expect(run.log.count == 1, "\(run.log)")
    let place = "\(mistake.program): \(file):\(mistake.line): "
    #expect(text.hasPrefix(place))
    let words = text.dropFirst(place.count).split(separator: ": ")
    #expect(words.count >= 2, "\(text)")
    #expect(text.dropFirst(place.count).contains(mistake.problem), "\(text)")
    #expect(words.last?.contains(mistake.remedy) == true, "\(text)")
  }

  @Test(arguments: ["tagrouted", "tagroute-agent"]) func `a missing configuration file is an error`(program: String)
    async throws
  {
    let run = try await ChildProcess.run(
      BuiltProducts.program(program), ["--config", "/nonexistent/tagroute.conf"], environment: [:])
    #expect(run.status == .exited(Names.ExitCode.configuration))
    #expect(run.log == ["\(program): /nonexistent/tagroute.conf: does not exist: name a file that does"])
  }

  @Test(arguments: ["tagrouted", "tagroute-agent", "tagroute-mqtt", "tagroute"])
  func `each program prints help and its version, and rejects an unknown option`(program: String) async throws {
    let path = try BuiltProducts.program(program)
    let help = try await ChildProcess.run(path, ["--help"], environment: [:])
    #expect(help.status == .exited(0))
    #expect(help.output.lowercased().hasPrefix("usage: \(program)"))
    #expect(help.output.contains("--help"))
    let version = try await ChildProcess.run(path, ["--version"], environment: [:])
    #expect(version.status == .exited(0))
    #expect(version.output == "\(program) \(Names.version)\n")
    let wrong = try await ChildProcess.run(path, ["--loud"], environment: [:])
    #expect(wrong.status == .exited(Names.ExitCode.usage))
    #expect(wrong.output.isEmpty)
    #expect(wrong.log.count == 1)
    #expect(wrong.log.first?.hasPrefix("\(program): ") == true)
    #expect(wrong.log.first?.contains("--loud") == true)
    #expect(wrong.log.first?.contains("\(program) --help") == true)
  }

  @Test func `the simulator prints help and rejects an unknown option`() async throws {
    let path = try BuiltProducts.program("tagroute-simulator")
    let help = try await ChildProcess.run(path, ["--help"], environment: [:])
    #expect(help.status == .exited(0))
    #expect(help.output.hasPrefix("usage: tagroute-simulator"))
    let wrong = try await ChildProcess.run(path, ["--loud"], environment: [:])
    #expect(wrong.status == .exited(Names.ExitCode.usage))
    #expect(wrong.log == ["tagroute-simulator: --loud: no such option; see tagroute-simulator --help"])
  }
}

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
