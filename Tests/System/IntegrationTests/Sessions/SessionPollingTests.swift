import Bus
import Names
import TagrouteClient
import TestRig
import Testing

/// How a session looks for tags, with the real programs, and the real libnfc with a simulated chip.
@Suite(.timeLimit(.minutes(5))) struct SessionPollingTests {
  @Test func `a restart of polling finds only the tags that it asks for`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    let open = try await desktop.program().start(ReaderSessionOptions(technologies: ["type-2", "type-4a"]))
    try await desktop.within("the session") { try await open.activated() }
    try await desktop.place(Tag(1))
    #expect(try await desktop.within("a tag") { try await open.tag() }.technology == "type-2")
    let error = await #expect(throws: BusError.self) { try await open.session.restartPolling(technologies: ["type-3"]) }
    #expect(error?.name == Names.Errors.invalidArgument)
    try await open.session.restartPolling(technologies: ["type-4a"])
    #expect(try await desktop.within("a restart") { try await open.pollingRestarted() } == 1)
    // The tag still lies there, and is not found.
    try await desktop.lookedAround()
    try await desktop.place(Tag(2, type: 4))
    #expect(try await desktop.within("a card") { try await open.tag() }.technology == "type-4a")
    try await desktop.place(Tag(1))
    try await desktop.lookedAround()
    try await open.session.restartPolling()
    #expect(try await desktop.within("a restart") { try await open.pollingRestarted() } == 1)
    #expect(try await desktop.within("a tag") { try await open.tag() }.technology == "type-2")
    try await open.session.invalidate()
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }

  @Test func `the tags that lie there together come in one round`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    let uids: [[UInt8]] = (1...3).map { [4, 0, 0, 0, 0, 0, $0] }
    func place(_ number: Int) async throws {
      let uid = uids[number].map { "0\($0)" }.joined()
      try await desktop.installation.simulate("tap https://example.com/\(number) --uid \(uid) --add")
    }
    for number in 0...1 { try await place(number) }
    let open = try await desktop.program().start()
    let first = try await desktop.within("a round") { try await open.round() }
    #expect(Set(first.map(\.uid)) == Set(uids.prefix(2)))
    #expect(try await first[0].queryNDEF().status == .readWrite)
    // A PN532 lists two tags of Type A at most.
    try await desktop.installation.simulate("remove")
    try await place(2)
    #expect(try await desktop.within("a round") { try await open.round() }.map(\.uid) == [uids[2]])
    try await open.session.invalidate()
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }
}
