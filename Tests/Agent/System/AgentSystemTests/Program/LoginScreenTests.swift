import Glibc
import TestKit
import Testing

@testable import Agent

/// The session in which a display manager asks who logs in.
@Suite(.timeLimit(.minutes(5))) struct LoginScreenTests {
  @Test func `at a login screen the agent exits normally and creates no files`() async throws {
    let directory = try TemporaryDirectory()
    let notifications = try NotifySocket(directory.file("notify"))
    let home = directory.file("home")
    try #require(mkdir(home, 0o700) == 0)
    let program = try BuiltProducts.program("tagroute-agent")
    // The agent neither reads this wrong configuration nor uses this missing bus.
    let configuration = try directory.write("[Inbox]\nInbox=perhaps\n", to: "agent.conf")
    let result = try await ChildProcess.run(
      program, ["--config", configuration],
      environment: [
        "XDG_SESSION_CLASS": "greeter", "HOME": home, "NOTIFY_SOCKET": directory.file("notify"),
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus",
      ])
    #expect(result.status == .exited(0))
    #expect(result.log.count == 1 && result.log.allSatisfy { $0.contains("no user is logged in") }, "\(result.log)")
    // systemd would restart a service that ends before it is ready.
    _ = try await notifications.next { $0.hasPrefix("READY=1") }
    _ = try await notifications.next { $0 == "STOPPING=1" }
    #expect(rmdir(home) == 0, "the agent created files in the home folder")
  }
}
