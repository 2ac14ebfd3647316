import Daemon
import Names
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests

@testable import ReaderProtocol

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

  /// Two tags of Type A, with and without ISO/IEC 14443-4, of which one may need a search for its application. They lie
  /// there before the session, or come together.
  @Test(arguments: ["22", "24", "42", "44", "2a", "a2", "4a", "aa"], [false, true])
  func `two tags of Type A are one round`(kinds: String, isLater: Bool) async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    // They differ in the first cascade level, where two kinds of tags give different answers to select.
    let uids: [[UInt8]] = [[4, 1, 1, 1, 1, 1, 1], [4, 2, 2, 2, 2, 2, 2]]
    let bytes = try uri("https://example.com")
    let tags = try zip(kinds, uids).map { kind, uid in
      switch kind {
      case "2": try SimulatedTag.type2(.ntag213, message: bytes, uid: .fixed(uid))
      case "4": try SimulatedTag.type4(message: bytes, uid: .fixed(uid))
      default: try SimulatedTag.applicationCard(uid: .fixed(uid))
      }
    }
    let options = ReaderSessionOptions(
      number: 1, technologies: [.type2, .type4A],
      applicationIdentifiers: [[0xA0, 0, 0, 9, 9], [0xF0] + Array("TAGROUTE".utf8)], reportsUndeclaredCards: true)
    if isLater { try await rig.begin(options) }
    await rig.simulator.place(tags)
    if !isLater { try await rig.begin(options) }
    #expect(try await rig.round().map(\.placement.uid).sorted { $0.last ?? 0 < $1.last ?? 0 } == uids)
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
