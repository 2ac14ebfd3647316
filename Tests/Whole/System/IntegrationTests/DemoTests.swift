import EventLoop
import Foundation
import Glibc
import TagrouteClient
import TestKit
import Testing

/// `tagroute demo --uri`: a tap for an app that the caller develops, without a session.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct OwnAppDemoTests {
  private let home: TemporaryDirectory
  init() throws { home = try TemporaryDirectory() }

  private func demo(
    _ arguments: [String], starter: String = #function
  ) async throws -> (status: ChildProcess.ExitStatus, log: [String]) {
    let environment = [
      "HOME": home.path, "PATH": "\(home.file("bin")):/usr/bin:/bin", "XDG_DATA_DIRS": home.file("system"),
    ]
    let result = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), ["demo"] + arguments, environment: environment, starter: starter)
    return (result.status, result.log)
  }

  private func install(_ id: String, of folder: String, service: String? = nil) throws {
    let entry = String(decoding: try readFile("\(repositoryRoot)/\(folder)/\(id).desktop"), as: UTF8.self)
    try home.write(entry, to: ".local/share/applications/\(id).desktop")
    guard let service else { return }
    try home.write("[D-BUS Service]\nName=\(id)\nExec=\(service)\n", to: ".local/share/dbus-1/services/\(id).service")
  }

  /// With a PN532 of libnfc, and with a reader of pcscd.
  @Test(arguments: [[], ["--pcsc"]])
  func `the output of a started program is printed`(reader: [String]) async throws {
    try install("org.example.Menu", of: "Config/examples")
    try home.write(
      try readFile("\(repositoryRoot)/Config/examples/tagroute-example-menu"), to: "bin/tagroute-example-menu",
      mode: 0o755)
    let (status, log) = try await demo(reader + ["--uri", "https://menu.example.com/table/7"])
    #expect(status == .exited(0))
    #expect(
      log.suffix(3) == [
        "· the app prints: link: https://menu.example.com/table/7",
        "· the app prints: record 1: well-known U: https://menu.example.com/table/7", "· the app has it",
      ])
  }

  @Test func `a refusal by the app is a failure and printed in the words of the app`() async throws {
    try install("org.example.SwiftHandler", of: "Examples/tag-handler", service: BuiltProducts.program("tag-handler"))
    let (status, log) = try await demo(["--uri", "https://swift.example.com/closed"])
    #expect(status == .exited(1))
    #expect(
      log.last?.hasPrefix("· the app did not take it: ") == true && log.last?.contains("kitchen") == true, "\(log)")
  }

  @Test func `the caller chooses between several apps`() async throws {
    try install("org.example.Menu", of: "Config/examples")
    let other = try readFile("\(repositoryRoot)/Config/examples/org.example.Menu.desktop")
    try home.write(other, to: ".local/share/applications/org.example.Other.desktop")
    try home.write("#!/bin/sh\necho opened\n", to: "bin/tagroute-example-menu", mode: 0o755)
    let asked = try await demo(["--uri", "https://menu.example.com/"])
    #expect(asked.status == .exited(75))
    #expect(asked.log.last?.contains("--handler APP") == true, "\(asked.log)")
    let (status, log) = try await demo(["--uri", "https://menu.example.com/", "--handler", "org.example.Other"])
    #expect(status == .exited(0))
    #expect(log.contains("· opening Menu (org.example.Other)"))
    #expect(log.contains("· the app prints: opened"))
  }

  @Test func `a demo that a signal ends stops its programs first`() async throws {
    try install("org.example.Menu", of: "Config/examples")
    try home.write("#!/bin/sh\nexec tail -f \"$0\"\n", to: "bin/tagroute-example-menu", mode: 0o755)
    let environment = ["HOME": home.path, "PATH": "\(home.file("bin")):/usr/bin:/bin", "XDG_DATA_DIRS": home.path]
    let demo = try ChildProcess(
      BuiltProducts.program("tagroute"), ["demo", "--uri", "https://menu.example.com/"], environment: environment)
    try await demo.line(containing: "opening")
    // The daemon may have ended already, because the tap is done. The demo waits for the app.
    #expect(try programs()[demo.identifier] != nil)
    #expect(try await demo.exit(after: SIGTERM) == .signalled(SIGTERM))
    // The app is the user's own, and stays. A process that is ending has no command line.
    let rest = try programs().filter { !$0.value.isEmpty }
    #expect(rest.values.allSatisfy { $0.contains("tagroute-example-menu") }, "\(rest)")
    for process in rest.keys { kill(process, SIGKILL) }
  }

  /// The command lines of the programs that have this test's home directory, by process id.
  private func programs() throws -> [Int32: String] {
    let home = Array("HOME=\(home.path)".utf8)[...]
    let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init)
    let own = processes.filter { (try? readFile("/proc/\($0)/environ"))?.split(separator: 0).contains(home) == true }
    return Dictionary(
      uniqueKeysWithValues: own.map { process in
        (process, String(decoding: (try? readFile("/proc/\(process)/cmdline")) ?? [], as: UTF8.self))
      })
  }

  @Test(arguments: [
    (["--uri", "https://nobody.example.com/"], Int32(1), "tagroute handlers --check"),
    (["--uri", "https://menu.example.com/", "--handler", "other"], 64, "other does not claim"),
    (["--uri", "https://menu.example.com/", "--unattended"], 64, "tagroute demo --uri URI"),
    (["--handler", "other"], 64, "tagroute demo --uri URI"),
  ])
  func `a demo that cannot run says what to do`(_ arguments: [String], _ code: Int32, _ words: String) async throws {
    try install("org.example.Menu", of: "Config/examples")
    try home.write("#!/bin/sh\n", to: "bin/tagroute-example-menu", mode: 0o755)
    let (status, log) = try await demo(arguments)
    #expect(status == .exited(code))
    #expect(log.last?.contains(words) == true, "\(log)")
  }
}

/// `tagroute demo` with the sample app, on a desktop with the user's own agent.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SampleDemoTests {
  @Test func `a click on the notification opens the sample app, and the user's agent gets no tap`() async throws {
    let (desktop, server) = try await Desktop.started()
    let environment = desktop.installation.environment.merging(["DISPLAY": ":99"]) { $1 }
    let demo = try ChildProcess(
      BuiltProducts.program("tagroute"), ["demo", "--examples", "\(repositoryRoot)/Config/examples"],
      environment: environment)
    let shown = try await desktop.notification(on: server)
    #expect(shown.summary == "Allow “Menu” to open links?")
    try await server.click(shown, action: "allow")
    let status = try await demo.exit()
    let log = await demo.log()
    #expect(status == .exited(0), "\(log)")
    #expect(log.contains("· the app prints: record 2: well-known T: Table 7, by the window"), "\(log)")
    let agent = try await AgentClient.connect(to: desktop.sessionBus, on: EventLoop(label: "test-client"))
    #expect(try await agent.taps().isEmpty)
  }
}
