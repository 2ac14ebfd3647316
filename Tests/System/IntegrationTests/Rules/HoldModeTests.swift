import Bus
import EventLoop
import Glibc
import TestRig
import Testing

/// What follows the removal of a tag, with the real daemon and the real agent.
@Suite(.timeLimit(.minutes(3)), StopsAtEnd()) struct HoldModeTests {
  @Test func `a lamp is on while the card rests`() async throws {
    let desktop = try await Desktop()
    let directory = desktop.installation.directory
    let pipe = directory.file("recorded")
    try #require(mkfifo(pipe, 0o600) == 0)
    let script = """
      #!/bin/sh
      { printf '%s %s %s\\n' "$1" "$TAGROUTE_UID" "$TAGROUTE_TAP_ID"; exec cat > /dev/null; } > '\(pipe)'
      """
    let program = try directory.write(script, to: "lamp", mode: 0o755)
    try directory.write(
      "[Rule lamp]\nUID=04-A2-19-5A\nRun=\(program);on;\nOnRemove=\(program);$(off)\\;;\nAsk=no\n",
      to: "config/tagroute/rules.d/lamp.conf")
    let server = try await desktop.startWithServer()
    let monitor = try await desktop.installation.start("tagroute", ["monitor", "--json"])
    try await monitor.line(containing: #""event":"status""#)
    func recorded() async throws -> [String] {
      let bytes = try await desktop.within("the program of the rule") {
        try await DedicatedThread.run { Result { try readFile(pipe) } }.get()
      }
      return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
    }

    try await desktop.installation.simulate("tap --type payment --uid 04A2195A")
    let on = try await recorded()
    #expect(on.prefix(2) == ["on", "04-A2-19-5A"] && on.count == 3)
    #expect(try await desktop.notification(on: server).summary == "Started “lamp”")
    try await desktop.installation.simulate("remove")
    // No shell has seen the arguments.
    #expect(try await recorded() == ["$(off);"] + on.dropFirst())
    let removal = try await monitor.line(containing: #""event":"tag-removed""#)
    #expect(removal.contains(on.last ?? "?") && !removal.contains("04-A2"))
  }

  @Test func `an app that has got a tap over D-Bus is told that its tag was removed`() async throws {
    let (desktop, server) = try await Desktop.started()
    // The tag is removed before the click, so the app is not told.
    try await desktop.place(try Tag(1))
    let early = try await desktop.notification(on: server)
    try await desktop.remove()
    try await server.click(early)
    _ = try await desktop.handed()

    try await desktop.place(try Tag(2))
    try await server.click(desktop.notification(on: server))
    let handed = try await desktop.handed()
    try await desktop.remove()
    let arguments = try await desktop.within("a call of TagRemoved") { [app = desktop.app] in
      try await app.nextRemoval()
    }
    #expect(arguments.first == handed.platformData["tap-id"])
    let tag = try #require(arguments.last?.asDictionary)
    #expect(tag["uid"] == .bytes([4, 0, 0, 0, 0, 0, 2]) && tag.count == 4)
  }
}
