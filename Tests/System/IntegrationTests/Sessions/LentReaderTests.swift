import Glibc
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

    // A program also reads the message that tagroute wrote.
    let write = try await desktop.installation.start("tagroute", ["write", "--text", "for another program"])
    #expect(try await write.exit() == .exited(0))
    let dump = desktop.installation.directory.file("dump.mfd")
    let program = try BuiltProducts.systemProgram("nfc-mfultralight", package: "libnfc-examples")
    let reading = try await desktop.installation.start("tagroute", ["run", "--", program, "r", dump])
    #expect(try await reading.exit() == .exited(0))
    let bytes = try readFile(dump)
    #expect(String(decoding: bytes, as: UTF8.self).contains("for another"))
    await desktop.stop()
  }
}
