import Names
import ReaderSimulator
import TestRig
import Testing
@testable import LibNFCReaderTests

@testable import ReaderLink

/// Rounds of tags in a session, through the real libnfc.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SessionRoundTests {
  private static let uids: [[UInt8]] = [[4, 1, 2, 3, 4, 5, 1], [4, 1, 2, 3, 4, 5, 2]]

  private func place(_ uid: [UInt8], _ rig: ReaderRig) async throws {
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com"), uid: .fixed(uid)))
  }

  @Test func `tags that lie there together are reported in one round`() async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    for uid in Self.uids { try await place(uid, rig) }
    let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    await rig.simulator.place(try .type3(message: uri("https://example.com"), idm: idm))
    try await rig.begin(ReaderSessionOptions(number: 1))
    let found = try await rig.round().map(\.placement.uid)
    #expect(found.count == 3 && Set(found) == Set(Self.uids + [idm]))
    // Each tag that comes later has a round of its own.
    let card = await rig.simulator.place(try .type4B(message: uri("https://example.com")))
    #expect(try await rig.round().map(\.placement.technology) == [.type4B])
    await rig.simulator.remove(card)
    _ = try await rig.sessionRemoval()
    await rig.process.restartPolling(ReaderSessionOptions(number: 1))
    #expect(try await rig.round().count == 3)
  }

  /// A session for one technology looks for it twice: for one tag, then for two.
  @Test(arguments: [1, 2]) func `a round of one technology has all of its tags`(count: Int) async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    for uid in Self.uids.prefix(count) { try await place(uid, rig) }
    try await rig.begin(ReaderSessionOptions(number: 1, technologies: [.type2]))
    #expect(try await rig.round().count == count)
  }

  @Test func `a round ends after a call that came first`() async throws {
    let rig = try await ReaderRig.inSession()
    try await place(Self.uids[0], rig)
    let tag = try await rig.sessionTag()
    #expect(try await rig.perform(.query, tag).failure == nil)
    if !rig.seen.contains(where: { if case .sessionRoundEnded = $0 { true } else { false } }) {
      #expect(try await rig.round().isEmpty)
    }
  }
}
