import Daemon
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

/// LED and buzzer of the reader. They are off unless the configuration wants them.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct FeedbackTests {
  /// LED and buzzer by an APDU to the connected card's reader.
  @Test func `an ACR122U shows success and failure differently`() async throws {
    let rig = try await CardReaderRig(.acr122U, feedback: true)
    try await rig.scan(true)
    var shown: [[UInt8]] = []
    for card in [try SimulatedTag.type2(.ntag213, message: try uri("https://example.com/")), .paymentCard()] {
      let id = try await rig.insert(card)
      _ = try await rig.tag()
      try await rig.wait(for: "a signal") { $0.commands(to: id).last?.starts(with: [0xFF, 0x00, 0x40]) == true }
      shown += await rig.commands(id).filter { $0.starts(with: [0xFF, 0x00, 0x40]) }
      await rig.remove(id)
      _ = try await rig.removal()
    }
    #expect(shown.count == 2 && Set(shown).count == 2)
  }

  /// Escape commands, which the driver refuses unless its administrator allows them.
  @Test(arguments: [CardReaderModel.acr1252U, .acr1552U], [false, true])
  func `a buzzer is controlled by escape commands if the driver allows them`(
    model: CardReaderModel, isAllowed: Bool
  ) async throws {
    let rig = try await CardReaderRig(model, feedback: true)
    await rig.readers.allowEscapes(isAllowed, for: rig.reader.id)
    try await rig.scan(true)
    var shown: [CardExchange] = []
    for card in [try SimulatedTag.type2(.ntag213, message: try uri("https://example.com/")), .paymentCard()] {
      let id = try await rig.insert(card)
      _ = try await rig.tag()
      try await rig.isFree(try await rig.client())
      let escapes = await rig.readers.exchanges(in: rig.slot).filter {
        $0.card == id && $0.command.starts(with: [0xE0, 0x00, 0x00, 0x28])
      }
      #expect(!escapes.isEmpty)
      #expect(escapes.contains { $0.answer != nil } == isAllowed)
      shown += escapes.suffix(1)
      await rig.remove(id)
      _ = try await rig.removal()
    }
    #expect(Set(shown.map(\.command)).count == 2)
    #expect(rig.announced.count == 2)
  }

  /// No card is connected when the result is known. An APDU then goes to the reader's driver.
  @Test(arguments: [CardReaderModel.acr122U, .acr1552U], [CardFault.silence(times: nil), .mute(times: nil)])
  func `a card that cannot be read is shown as a failure`(model: CardReaderModel, fault: CardFault) async throws {
    let rig = try await CardReaderRig(model, feedback: true)
    await rig.readers.allowEscapes(true, for: rig.reader.id)
    try await rig.scan(true)
    await rig.add(fault)
    let id = try await rig.insert(try .type2(.ntag213, message: try uri("https://example.com/")))
    #expect(try await rig.tag().problem != nil)
    try await rig.announcesNothing()
    let shown = await rig.readers.exchanges(in: rig.slot).filter { exchange in
      let starts: [[UInt8]] = [[0xFF, 0x00, 0x40], [0xE0, 0x00, 0x00, 0x28]]
      return exchange.answer != nil && starts.contains { exchange.command.starts(with: $0) }
    }
    #expect(shown.count == 1)
    #expect(shown.allSatisfy { $0.card == id && $0.kind != .command })
    // Without power, no program can connect to the card exclusively.
    if fault != .mute(times: nil) { try await rig.isFree(try await rig.client()) }
  }

  /// With and without a card on the reader, whether or not it scans.
  @Test(arguments: [CardReaderModel.acr122U, .acr1252U, .acr1552U])
  func `a reader shows itself on command, also if taps show nothing`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.asleep(model)
    await rig.readers.allowEscapes(true, for: rig.reader.id)
    @Sendable func signals(_ exchanges: [CardExchange]) -> Int {
      exchanges.count { exchange in
        let starts: [[UInt8]] = [[0xFF, 0x00, 0x40], [0xE0, 0x00, 0x00, 0x28]]
        return exchange.answer != nil && starts.contains { exchange.command.starts(with: $0) }
      }
    }
    func identify(expecting count: Int) async throws {
      await rig.process.identify()
      try await rig.wait(for: "signal \(count)") { [slot = rig.slot] in
        signals($0.exchanges(in: slot)) >= count
      }
    }
    try await identify(expecting: 1)
    try await rig.scan(true)
    try await identify(expecting: 2)
    let (id, placement) = try await rig.announces("https://example.com/")
    try await identify(expecting: 3)
    // The card stays as it is, and the next one is read.
    try await rig.takeAway(id, placement)
    try await rig.announces("https://example.com/next")
    #expect(signals(await rig.readers.exchanges(in: rig.slot)) == 3)
  }

  @Test func `nothing is shown unless it is wanted`() async throws {
    let rig = try await CardReaderRig.scanning(.acr122U)
    let (id, _) = try await rig.announces("https://example.com/")
    try await rig.isFree(try await rig.client())
    #expect(await rig.commands(id).allSatisfy { !$0.starts(with: [0xFF, 0x00, 0x40]) })
  }
}
