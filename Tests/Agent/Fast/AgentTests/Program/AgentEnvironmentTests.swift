import Testing

@testable import Agent

/// What the environment of the agent, and that of a process it starts, says.
struct AgentEnvironmentTests {
  @Test(arguments: ["greeter", "lock-screen"]) func `no user is logged in at a login screen`(name: String) {
    #expect(LoginScreen.notice(environment: ["XDG_SESSION_CLASS": name])?.contains("XDG_SESSION_CLASS=\(name)") == true)
  }

  @Test(arguments: ["user", "user-early", "user-light", "manager", "background", "", "Greeter"])
  func `a user is logged in in any other session class`(name: String) {
    #expect(LoginScreen.notice(environment: ["XDG_SESSION_CLASS": name]) == nil)
    #expect(LoginScreen.notice(environment: [:]) == nil)
  }

  @Test func `the process that asks domains inherits no sockets of the agent`() {
    let environment = AssociationUpdate.environment(of: [
      "HOME": "/home/somebody", "NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "1", "LISTEN_FDS": "1",
      "LD_PRELOAD": "x", "https_proxy": "http://proxy", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/bus",
    ])
    #expect(environment == ["DBUS_SESSION_BUS_ADDRESS=unix:path=/bus", "HOME=/home/somebody"])
  }
}
