import Glibc
import TagrouteClient
import TestKit
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
    let listed = try await desktop.installation.output("run", "--", list)
    #expect(listed.contains("04  00  00  00  00  ab  cd"), "\(listed)")
    try await desktop.status(\.scanning)
    // The tag that lay there is not announced again, but the next tag is.
    try await desktop.lookedAround()
    try await desktop.place(try Tag(2))
    #expect(try await desktop.notification(on: server).body == Tag.text(2))

    // A program also reads the message that tagroute wrote.
    _ = try await desktop.installation.output("write", "--text", "for another program")
    let dump = desktop.installation.directory.file("dump.mfd")
    let program = try BuiltProducts.systemProgram("nfc-mfultralight", package: "libnfc-examples")
    _ = try await desktop.installation.output("run", "--", program, "r", dump)
    let bytes = try readFile(dump)
    #expect(String(decoding: bytes, as: UTF8.self).contains("for another"))
    await desktop.stop()
  }
}
