import Glibc
import Names
import TagrouteClient
import TestRig
import Testing

/// `tagroute run` with the real daemon, and the programs of libnfc with the simulated reader.
@Suite(.timeLimit(.minutes(5))) struct LentReaderTests {

  @Test func `another program reads a tag with the lent reader, and then scanning resumes`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    let server = try await desktop.startServer()
    try await desktop.place(try Tag(0xABCD))
    #expect(try await desktop.notification(on: server).body == Tag.text(0xABCD))
    let list = try BuiltProducts.systemProgram("nfc-list", package: "libnfc-bin")
    let process = try await desktop.installation.start("tagroute", ["run", "--", list])
    #expect(try await process.exit() == .exited(0))
    let log = await process.log()
    #expect(log.contains { $0.contains("04  00  00  00  00  ab  cd") }, "\(log)")
    try await desktop.status(\.scanning)
    // The tag that lay there is not announced again, but the next tag is.
    try await desktop.lookedAround()
    try await desktop.place(try Tag(2))
    #expect(try await desktop.notification(on: server).body == Tag.text(2))
    await desktop.stop()
  }

  @Test func `another program reads a message that tagroute wrote`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    try await desktop.place(try Tag(1))
    let write = try await desktop.installation.start("tagroute", ["write", "--text", "for another program"])
    #expect(try await write.exit() == .exited(0))
    let dump = desktop.installation.directory.file("dump.mfd")
    let program = try BuiltProducts.systemProgram("nfc-mfultralight", package: "libnfc-examples")
    let process = try await desktop.installation.start("tagroute", ["run", "--", program, "r", dump])
    let status = try await process.exit()
    let log = await process.log()
    #expect(status == .exited(0), "\(log)")
    let bytes = try readFile(dump)
    #expect(String(decoding: bytes, as: UTF8.self).contains("for another"))
    await desktop.stop()
  }

  @Test(arguments: [SIGKILL, SIGTERM]) func `a command that is killed returns the reader`(number: Int32) async throws {
    let (desktop, polkit) = try await Desktop.scanning(
      starter: "`a command that is killed returns the reader`_\(number)")
    defer { withExtendedLifetime(polkit) {} }
    let process = try await desktop.installation.start("tagroute", ["run", "--", "sh", "-c", "kill -\(number) $$"])
    #expect(try await process.exit() == .exited(128 + number))
    try await desktop.status(\.scanning)
    await desktop.stop()
  }

  @Test func `tagroute run returns the reader when it is killed`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    let wait = "import os, signal; os.write(1, b'has it\\n'); signal.pause()"
    let process = try await desktop.installation.start("tagroute", ["run", "--", "python3", "-c", wait])
    try await process.line(containing: "has it")
    try await desktop.status { !$0.scanning && $0.readers.first?.state == "released" }
    // A second command does not get the reader.
    let other = try await desktop.installation.start("tagroute", ["run", "true"])
    #expect(try await other.exit() == .exited(Names.ExitCode.tryAgain))
    let command = try #require(try process.children().first)
    process.signal(SIGKILL)
    try await desktop.status(\.scanning)
    try await command.end()
    #expect(try await process.exit() == .signalled(SIGKILL))
    await desktop.stop()
  }

  @Test func `a daemon that is killed while it lends the reader scans after its restart`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    let wait = "import os, signal; os.write(1, b'has it\\n'); signal.pause()"
    let process = try await desktop.installation.start("tagroute", ["run", "--", "python3", "-c", wait])
    try await process.line(containing: "has it")
    let daemon = try await desktop.daemon
    daemon.signal(SIGKILL)
    try await daemon.exit()
    process.signal(SIGTERM)
    #expect(try await process.exit() == .exited(128 + SIGTERM))
    try await desktop.installation.startDaemon()
    try await desktop.daemon.line(containing: Desktop.readerReady)
    try await desktop.status(\.scanning)
    await desktop.stop()
  }
}
