import EventLoop
import Glibc
import TagrouteClient
import TestKit
import Testing

/// Runs the scripts from docs/scanning.md exactly as printed, for screen lockers that do not report a lock. The lockers
/// here lock no screen.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LockerPageTests {
  /// The code block of the page that creates the script for a locker.
  private static func block(of locker: String) throws -> String {
    let page = String(decoding: try readFile("\(repositoryRoot)/docs/scanning.md"), as: UTF8.self)
    let section = try #require(page.split(separator: "\n**\(locker), ").dropFirst().first)
    let block = try #require(section.split(separator: "```sh\n").dropFirst().first?.split(separator: "```").first)
    return String(block)
  }

  @Test(arguments: ["swaylock", "i3lock"]) func `only an unlock makes the daemon scan again`(locker: String)
    async throws
  {
    let starter = "`only an unlock makes the daemon scan again`_\(locker)"
    let desktop = try await Desktop(starter: starter)
    try await desktop.startScanning()
    let directory = desktop.installation.directory
    try directory.write("", to: "home/.profile")
    // Waits for an exit code from the test: 0 for an unlock, 1 for a crash.
    let end = directory.file("end")
    try #require(mkfifo(end, 0o600) == 0)
    try directory.write("#!/bin/sh\nread -r code <'\(end)'\nexit \"$code\"\n", to: "bin/\(locker)", mode: 0o755)
    try #require(symlink(try BuiltProducts.program("tagroute"), directory.file("bin/tagroute")) == 0)
    var environment = desktop.installation.environment
    environment["PATH"] = "\(directory.file("bin")):/usr/bin:/bin"
    let pasted = try await ChildProcess.run(
      "/bin/sh", ["-eu", "-c", try Self.block(of: locker)], environment: environment, starter: starter)
    try #require(pasted.status == .exited(0), "\(pasted.log)")

    let client = try await DaemonClient.connect(to: desktop.systemBus, on: EventLoop(label: "client"))
    for code: Int32 in [0, 1] {
      let script = try ChildProcess(
        directory.file("home/.local/bin/lock-screen"), [], environment: environment, starter: starter)
      try await desktop.status { $0.suspendReasons == ["session-locked"] }
      _ = try await ChildProcess.run(
        "/bin/sh", ["-c", "echo \(code) >'\(end)'"], environment: environment, starter: starter)
      #expect(try await script.exit() == .exited(code))
      // The daemon knows the lock state by the time the script ends.
      let status = try await client.status()
      #expect(status.suspendReasons == (code == 0 ? [] : ["session-locked"]))
    }
  }
}
