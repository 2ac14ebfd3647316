import Bus
import Names
import TagrouteClient
import TestKit
import Testing

/// A client's own commands to simulated cards, with the real programs and the real libnfc.
@Suite(.timeLimit(.minutes(5))) struct TransceiveTests {
  private static let ndef: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]

  private func select(_ name: [UInt8]) -> [UInt8] {
    [0x00, 0xA4, 0x04, 0x00, UInt8(truncatingIfNeeded: name.count)] + name + [0x00]
  }

  private func errorName(_ body: () async throws(BusError) -> [UInt8]) async -> String? {
    do throws(BusError) {
      _ = try await body()
      return nil
    } catch {
      return error.name
    }
  }

  @Test func `a bank card is hidden from sessions with declarations, and its applications are blocked`() async throws {
    let desktop = try await Desktop()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let open = try await desktop.program().start(ReaderSessionOptions(applicationIdentifiers: [Self.ndef]))
    try await desktop.within("the session") { try await open.activated() }
    try await desktop.installation.simulate("tap --type payment")
    try await desktop.lookedAround()
    try await desktop.place(Tag(1, type: 4))
    let tag = try await desktop.within("a card") { try await open.tag() }
    #expect(tag.uid == [0x04, 0, 0, 0, 0, 0, 1])
    #expect(tag.selectedApplication == Self.ndef)
    #expect(try await tag.transceive(select(Self.ndef)).suffix(2) == [0x90, 0x00])
    // Reads the capability container.
    #expect(try await tag.transceive([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03]).suffix(2) == [0x90, 0x00])
    #expect(try await tag.transceive([0x00, 0xB0, 0x00, 0x00, 0x0F]).count == 17)
    try await open.session.invalidate()
    _ = try await open.end()

    // A session without declarations finds the card, but cannot select its payment applications.
    try await desktop.installation.simulate("remove")
    let second = try await desktop.program().start(ReaderSessionOptions(access: .write))
    try await desktop.within("the session") { try await second.activated() }
    try await desktop.installation.simulate("tap --type payment")
    let card = try await desktop.within("the bank card") { try await second.tag() }
    for name in ["2PAY.SYS.DDF01", "1PAY.SYS.DDF01", "2PAY."] {
      #expect(
        await errorName { () async throws(BusError) in try await card.transceive(select(Array(name.utf8))) }
          == Names.Errors.notAuthorized)
    }
    #expect(try await card.queryNDEF().status == .notSupported)
    try await second.session.invalidate()
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }
}
