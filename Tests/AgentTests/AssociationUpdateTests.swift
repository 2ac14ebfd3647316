import Testing

@testable import Agent

@Suite struct AssociationUpdateTests {
  @Test func `the process that asks domains inherits what it needs, and not the agent's own sockets`() {
    let environment = AssociationUpdate.environment(of: [
      "HOME": "/home/somebody", "NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "1", "LISTEN_FDS": "1",
      "LD_PRELOAD": "x", "https_proxy": "http://proxy", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/bus",
    ])
    #expect(environment == ["DBUS_SESSION_BUS_ADDRESS=unix:path=/bus", "HOME=/home/somebody"])
  }
}
