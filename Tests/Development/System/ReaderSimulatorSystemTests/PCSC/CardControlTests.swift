import EventLoop
import TestKit
import Testing

@testable import ReaderSimulator

@Suite(.serialized, .timeLimit(.minutes(5))) struct CardControlTests {
  private func session(_ models: [CardReaderModel]) async throws -> (
    session: CardControlSession, keeper: TemporaryDirectory
  ) {
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    for model in models { await readers.addReader(model) }
    return (CardControlSession(readers: readers), directory)
  }

  @Test func `a tap goes to the first slot that takes such a card`() async throws {
    let (session, keeper) = try await session([.acr1252U, .pcTwin])
    #expect(await session.answer(to: "tap https://example.com/").text == "ok tag 1")
    #expect(await session.answer(to: "tap --type openpgp").text == "ok tag 2")
    #expect(await session.answer(to: "tap tel:1 --type 4").text == "ok tag 3")
    #expect(await session.answer(to: "tap tel:2 --add").text == "ok tag 4")
    let slots = await session.readers.attachedReaders.flatMap(\.slots)
    #expect(await session.readers.cards(in: slots[0]).map(\.number) == [3, 4])
    #expect(await session.readers.cards(in: slots[1]).isEmpty)
    #expect(await session.readers.cards(in: slots[2]).map(\.number) == [2])
    #expect(await session.answer(to: "tap --type piv --slot 1").text == "ok tag 5")
    #expect(await session.answer(to: "tap tel:1 --slot 1").text.hasPrefix("error ACS ACR1252"))
    #expect(await session.answer(to: "tap tel:1 --slot 9").text == "error --slot: there is no slot 9")
    #expect(await session.answer(to: "remove 4").text == "ok")
    #expect(await session.answer(to: "remove 4").text == "error remove: no card 4 is in a slot")
    #expect(await session.answer(to: "remove").text == "ok")
    #expect(await session.readers.cards(in: slots[2]).isEmpty)
    await session.readers.stop()
    withExtendedLifetime(keeper) {}
  }

  @Test func `the other commands answer`() async throws {
    let (session, keeper) = try await session([.acr122U])
    #expect(await session.answer(to: "fault removal").text.hasPrefix("error fault: no card"))
    #expect(await session.answer(to: "tap tel:1 --type 5").text == "ok tag 1")
    #expect(await session.answer(to: "tap --type contact").text.hasPrefix("error tap: no reader takes"))
    #expect(await session.answer(to: "fault status 6300 3").text == "ok")
    #expect(await session.answer(to: "fault delay 5").text.hasPrefix("error fault: "))
    #expect(await session.answer(to: "fault none").text == "ok")
    #expect(await session.answer(to: "unplug").text == "ok")
    #expect(await session.answer(to: "plug").text == "ok")
    #expect(await session.answer(to: "counters").text == "ok commands=0 power-ups=0")
    #expect(await session.answer(to: "counters reset").text == "ok commands=0 power-ups=0")
    #expect(await session.answer(to: "model").text == "ok acr122u")
    #expect(await session.answer(to: "quit").quits)
    await session.readers.stop()
    withExtendedLifetime(keeper) {}
  }

  @Test func `a PN532 has none of these commands`() async throws {
    let session = ControlSession(reader: try await .start())
    for line in ["fault mute", "model", "tap --type piv"] {
      #expect(await session.answer(to: line).text.hasPrefix("error "))
    }
    await session.reader.stop()
  }
}
