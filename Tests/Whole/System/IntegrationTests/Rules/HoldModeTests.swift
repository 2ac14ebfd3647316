import Bus
import EventLoop
import Glibc
import TestKit
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

  /// The removal is due long after the test.
  @Test(arguments: [Installation.Reader.serial, .pcsc])
  func `a tag that drops out and comes back is not tapped again`(reader: Installation.Reader) async throws {
    let desktop = try await Desktop(
      reader, scan: ["Sessions=any", "RemovalDelay=10000"],
      starter: "`a tag that drops out and comes back is not tapped again`_\(reader)")
    let server = try await desktop.startWithServer()
    let daemon = try await desktop.daemon
    try await desktop.tap(1, isShownOn: server)
    for _ in 1...3 {
      let seen = await daemon.log().count
      try await desktop.installation.simulate("remove")
      try await daemon.line(containing: "its tag may have dropped out", after: seen)
      try await desktop.place(try Tag(1))
      try await daemon.line(containing: "its tag had only dropped out", after: seen)
    }
    try await desktop.installation.simulate("remove")
    try await desktop.tap(2, isShownOn: server)
    #expect(await server.all.count == 2)
    #expect(await !daemon.log().contains { $0.contains(Desktop.tagAway) })
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
