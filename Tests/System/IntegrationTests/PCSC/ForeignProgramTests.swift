import ReaderSimulator
import TagrouteClient
import TestRig
import Testing

/// A program of others (pyscard) that uses the contactless reader itself: it gets the card, and the daemon says what it
/// waits for.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ForeignProgramTests {
  @Test func `a tap waits for another program's transaction, and the status says so`() async throws {
    let desk = try await CardDesktop()
    let client = try await PCSCClient(socket: desk.pcscd.socket)
    let name = await desk.readers.name(of: try desk.slot)
    try await desk.place(1)
    try await client.ask("await present \(name)")
    try await client.ask("connect shared \(name)")
    try await client.ask("begin")
    try await desk.startPrograms()
    try await desk.desktop.status { $0.readers.first?.stateReason == "another program uses the card" }
    #expect(await desk.server.all.filter(\.isTap).isEmpty)
    #expect(try await client.transmit("ffca000000").hasSuffix("9000"))
    try await client.ask("end")
    #expect(try await desk.shown().body == Tag.text(1))
    try await desk.desktop.status { $0.readers.first?.stateReason.isEmpty == true }
    try await client.ask("disconnect leave")
    try await desk.announces(2)
  }
}
