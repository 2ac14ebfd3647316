import Glibc
import Names
import TestKit
import Testing

/// `tagroute doctor --watch`, beside a person who plugs a reader in and holds a tag to it.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct DoctorWatchSystemTests {
  @Test func `each step is said, and the last word is ready`() async throws {
    let desktop = try await Desktop()
    let installation = desktop.installation
    _ = try await desktop.startPolkit(alsoAllowing: [Names.PolkitAction.configure])
    _ = try await desktop.startServer()
    try await installation.startDaemon()
    try await installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
    let watch = try await installation.start("tagroute", ["doctor", "--watch"])
    try await watch.line(containing: "waiting for")

    // Only another program can fix this.
    let module = installation.directory.file("sys/module/pn533_usb")
    mkdir(installation.directory.file("sys/module"), 0o700)
    mkdir(module, 0o700)
    try await installation.startSimulator()
    try await watch.line(containing: "hold a tag to it")
    try await watch.line(containing: "wrong  kernel-module: ")
    rmdir(module)
    try await watch.line(containing: "right  kernel-module: ")

    try await desktop.place(try Tag(1))
    #expect(try await watch.exit() == .exited(0))
    let device = "pn532_uart:\(installation.directory.file("reader"))"
    let file = installation.directory.file("tagroute.conf")
    #expect(
      await watch.log().filter { !$0.contains("kernel-module") && !$0.hasPrefix("       fix: ") } == [
        "waiting for \(device): plug it in, or change Devices= below [Reader] in \(file)",
        "reader: \(device), by libnfc, scanning", "hold a tag to it",
        "tag read: Type 2 tag, link https://menu.example.com → Menu", "ready",
      ])
  }

  @Test func `an interrupt ends it with the present state`() async throws {
    let (desktop, _, _) = try await Desktop.sound()
    let watch = try await desktop.installation.start("tagroute", ["doctor", "--watch"])
    try await watch.line(containing: "hold a tag to it")
    #expect(try await watch.exit(after: SIGINT) == .exited(0))
    #expect(await watch.log().last == "no tag was read yet")
  }
}
