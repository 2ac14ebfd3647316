import Bus
import Names
import TagrouteClient
import TestRig
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
    let second = try await desktop.program().start(ReaderSessionOptions(access: .write))
    try await desktop.within("the session") { try await second.activated() }
    try await desktop.installation.simulate("tap --type payment")
    let card = try await desktop.within("the bank card") {
      var card = try await second.tag()
      // The previous card may still be there for a moment.
      while card.uid == [0x04, 0, 0, 0, 0, 0, 1] { card = try await second.tag() }
      return card
    }
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

  @Test func `a bank card is reported if undeclared cards are wanted, and its applications are blocked`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    let open = try await desktop.program().start(
      ReaderSessionOptions(applicationIdentifiers: [Self.ndef], reportsUndeclaredCards: true))
    try await desktop.within("the session") { try await open.activated() }
    try await desktop.installation.simulate("tap --type payment")
    let card = try await desktop.within("the bank card") { try await open.tag() }
    #expect(card.technology == "type-4a" && card.selectedApplication.isEmpty)
    #expect(
      await errorName { () async throws(BusError) in try await card.transceive(select(Array("2PAY.SYS.DDF01".utf8))) }
        == Names.Errors.notAuthorized)
    #expect(try await card.transceive(select(Self.ndef)) == [0x6A, 0x82])
    // A card that has the application is reported with it.
    try await desktop.place(Tag(1, type: 4))
    #expect(try await desktop.within("a card") { try await open.tag() }.selectedApplication == Self.ndef)
    try await open.session.invalidate()
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }

  @Test func `a client can select its applications itself`() async throws {
    let (desktop, polkit) = try await Desktop.scanning()
    let name: [UInt8] = [0xF0] + Array("TAGROUTE".utf8)
    let open = try await desktop.program().start(
      ReaderSessionOptions(applicationIdentifiers: [name], selectsApplication: false))
    try await desktop.within("the session") { try await open.activated() }
    try await desktop.installation.simulate("tap --type application")
    let card = try await desktop.within("a card") { try await open.tag() }
    #expect(card.selectedApplication.isEmpty)
    // GET DATA returns the name of the selected application.
    let read: [UInt8] = [0x00, 0xCA, 0x01, 0x01, 0x00]
    #expect(try await card.transceive(read) == [0x69, 0x85])
    let masterFile: [UInt8] = [0x00, 0xA4, 0x00, 0x0C, 0x02, 0x3F, 0x00]
    for _ in 1...2 {
      #expect(
        await errorName { () async throws(BusError) in try await card.transceive(masterFile) }
          == Names.Errors.notAuthorized)
      #expect(try await card.transceive(select(name)) == [0x90, 0x00])
      #expect(try await card.transceive(read) == name + [0x90, 0x00])
    }
    try await open.session.invalidate()
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }

  @Test func `a FeliCa card is reported to sessions that declare its system`() async throws {
    let desktop = try await Desktop()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let other = try await desktop.program().start(ReaderSessionOptions(systemCodes: [0x12FC]))
    try await desktop.within("the session") { try await other.activated() }
    try await desktop.installation.simulate("tap --type transit")
    try await desktop.lookedAround()
    try await desktop.place(Tag(1))
    // The transit card came first and was not reported.
    #expect(try await desktop.within("a tag") { try await other.tag() }.technology == "type-2")
    try await other.session.invalidate()
    _ = try await other.end()

    let open = try await desktop.program().start(
      ReaderSessionOptions(technologies: ["type-3"], systemCodes: [0x0003]))
    try await desktop.within("the session") { try await open.activated() }
    try await desktop.installation.simulate("tap --type transit")
    let card = try await desktop.within("the card") { try await open.tag() }
    #expect(card.systemCode == 0x0003)
    // Request Response, Request System Code.
    #expect(try await card.transceive([0x04] + card.idm).first == 0x05)
    let systems = try await card.transceive([0x0C] + card.idm)
    #expect(systems.dropFirst(9) == [0x02, 0x00, 0x03, 0xFE, 0x00])
    // Request Service v2, Request Specification Version, Reset Mode.
    let services = try await card.transceive([0x32] + card.idm + [1, 0x0F, 0x09])
    #expect(services == [0x33] + card.idm + [0, 0, 0x41, 1, 0, 0, 0, 0])
    #expect(try await card.transceive([0x3C] + card.idm + [0, 0]).prefix(11) == [0x3D] + card.idm + [0, 0])
    #expect(try await card.transceive([0x3E] + card.idm + [0, 0]) == [0x3F] + card.idm + [0, 0])
    let poll = try await card.transceive([0x00, 0x00, 0x03, 0x00, 0x00])
    #expect(Array(poll.prefix(9)) == [0x01] + card.idm)
    // Another system, a wildcard, and a command that needs keys.
    for command in [[0x00, 0xFF, 0xFF, 0x00, 0x00], [0x00, 0xFE, 0x00, 0x00, 0x00], [0x10] + card.idm + [0x00]]
      as [[UInt8]]
    {
      #expect(
        await errorName { () async throws(BusError) in try await card.transceive(command) }
          == Names.Errors.notAuthorized)
    }
    try await open.session.invalidate()
    try await desktop.scanning()
    await polkit.stop()
    await desktop.stop()
  }
}
