import Foundation
import Names
import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

/// The commands for tags with readers that pcscd drives.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardCommandTests {
  private static let uid: [UInt8] = [0xE0, 0x04, 1, 2, 3, 4, 5, 6]

  private func record(_ report: [String: Any]) throws -> [String: Any] {
    try #require((report["records"] as? [[String: Any]])?.first)
  }

  /// A tag of ISO/IEC 15693, which only readers that pcscd drives can find.
  @Test func `a Type 5 tag is read, written and locked`() async throws {
    let desk = try await CardDesktop([.acr1552U])
    _ = try await desk.desktop.startPolkit()
    try await desk.start()
    let installation = desk.desktop.installation
    let card = try await desk.place(.type5(.slix2, message: try Tag(1).message, uid: Self.uid))
    #expect(try await desk.shown().body == Tag.text(1))
    let before = try await installation.object("read")
    #expect(before["technology"] as? String == "type-5" && before["uid"] as? String == "E004010203040506")
    #expect(before["status"] as? String == "read-write")
    #expect(try record(before)["uri"] as? String == "https://" + Tag.text(1))

    let written = try await installation.object("write", "--smart-poster", "https://example.com/new", "--title", "New")
    let after = try await installation.object("read")
    #expect(try record(after)["uri"] as? String == "https://example.com/new")
    #expect(try record(after)["text"] as? String == "New")
    let bytes = try #require(after["message"] as? String)
    #expect(bytes.count == (written["written"] as? Int).map { 2 * $0 })
    let memory = try #require(await desk.readers.memory(of: card))
    #expect(memory.firstRange(of: Array("example.com/new".utf8)) != nil)

    let info = try await installation.object("info")
    #expect(info["size"] as? Int == written["written"] as? Int)
    // A PC/SC reader tells neither.
    #expect(info["atqa"] is NSNull && info["sak"] is NSNull)
    #expect(info["blockCount"] as? Int == 80 && info["blockSize"] as? Int == 4)

    #expect(try await installation.tagroute("lock").status == .exited(Names.ExitCode.usage))
    #expect(try await installation.object("lock", "--yes")["status"] as? String == "read-only")
    #expect(try await installation.object("info")["status"] as? String == "read-only")
    let locked = await desk.readers.memory(of: card)
    #expect(try await installation.tagroute("write", "--text", "a").status == .exited(Names.ExitCode.notAllowed))
    #expect(await desk.readers.memory(of: card) == locked)
    #expect(try record(try await installation.object("read"))["uri"] as? String == "https://example.com/new")

    // The tag lay there in sessions, so it is no new tap.
    try await desk.scanning()
    try await desk.announces(2)
    #expect(await desk.server.all.count(where: \.isTap) == 2)
  }
}
