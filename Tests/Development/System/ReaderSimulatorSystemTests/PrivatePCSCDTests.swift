import EventLoop
import Glibc
import TestKit
import Testing

@testable import ReaderSimulator
@testable import ReaderSimulatorTests

@Suite(.serialized, .timeLimit(.minutes(5)), StopsAtEnd()) struct PrivatePCSCDTests {
  @Test func `two run side by side, each with its own readers`() async throws {
    let first = try await CardRig([.acr122U])
    let second = try await CardRig([.pcTwin])
    #expect(try await first.client.ask("list") == "ACS ACR122U PICC Interface 00 00")
    #expect(try await second.client.ask("list") == "Gemalto PC Twin Reader 00 00")
    await first.daemon.kill()
    await first.readers.stop()
    #expect(try await second.client.ask("list") == "Gemalto PC Twin Reader 00 00")
  }

  @Test(arguments: [true, false])
  func `it starts again on the same path`(killed: Bool) async throws {
    let rig = try await CardRig([.acr122U])
    try await rig.insertAndConnect(SimulatedCard(try type2()))
    if killed { await rig.daemon.kill() } else { await rig.daemon.stop() }
    #expect(await !rig.daemon.isRunning)
    #expect(try await rig.client.error(of: "transmit ffca000000") != nil)
    try await rig.daemon.restart()
    try await rig.readers.waitUntilOpen(by: rig.daemon)
    let client = try await PCSCClient(socket: rig.daemon.socket)
    try await client.ask("await present \(await rig.name)")
    try await client.ask("connect shared \(await rig.name)")
    #expect(try await client.transmit("ffca000000") == "041122334455669000")
  }

  @Test func `on demand, it starts when a client connects`() async throws {
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    let reader = await readers.addReader(.acr122U)
    var options = PrivatePCSCD.Options()
    options.startsOnDemand = true
    let daemon = try await readers.startPCSCD(in: directory.path, options: options)
    #expect(await !daemon.isRunning)
    #expect(await !readers.areOpen)
    let client = try await PCSCClient(socket: daemon.socket)
    await daemon.started()
    #expect(await daemon.isRunning)
    try await client.ask("await-reader \(await readers.name(of: reader.slot))")
    await daemon.kill()
    await readers.stop()
  }

  @Test func `an error comes with pcscd's log`() async throws {
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    await readers.addReader(.acr122U)
    var options = PrivatePCSCD.Options()
    options.arguments = ["--no-such-option"]
    let error = await #expect(throws: SimulatorError.self) {
      try await readers.startPCSCD(in: directory.path, options: options)
    }
    #expect(error?.message.contains("no-such-option") == true, "\(error?.message ?? "")")
    await readers.stop()
  }

  @Test func `a pcscd of which the readers' socket is gone lists no reader`() async throws {
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    await readers.addReader(.acr122U)
    let configuration = await readers.configuration(library: try SimulatedCardReaders.driverLibrary())
    await readers.stop()
    let daemon = try await PrivatePCSCD.start(in: directory.path, configuration: configuration)
    let client = try await PCSCClient(socket: daemon.socket)
    #expect(try await client.ask("list").isEmpty)
    #expect(await daemon.isRunning)
    await daemon.kill()
  }

  @Test(.enabled(if: DeviceTestbed.isPossible && geteuid() == 0, "needs root, and udev or a devtmpfs at /dev"))
  func `readers come and go with their USB devices`() async throws {
    let directory = try TemporaryDirectory()
    let testbed = try await DeviceTestbed()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    let reader = await readers.addReader(.acr1252U)
    var options = PrivatePCSCD.Options()
    options.environment = testbed.environment
    options.isVerbose = true
    let daemon = try await readers.startHotplugPCSCD(in: directory.path, options: options)
    defer { keepLog(daemon.log(), of: "pcscd", starter: #function) }
    let client = try await PCSCClient(socket: daemon.socket)
    #expect(try await client.ask("list").isEmpty)
    for number in [5, 6] {
      let interfaces = reader.model.slots.map(\.interfaceName)
      let path = try await testbed.plugCardReader(
        "1-\(number)", reader.model.usbIdentity, interfaces: interfaces, number: number)
      let name = "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00"
      let other = "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] 01 00"
      for reader in [name, other] { try await client.ask("await-reader \(reader)") }
      let card = try await readers.insert(SimulatedCard(try type2()), into: reader.slot)
      try await client.ask("await present \(name)")
      try await client.ask("connect shared \(name)")
      #expect(try await client.transmit("ffca000000") == "041122334455669000")
      await readers.remove(card)
      // A removal that pcscd 1.9.9 handles during the unplugging cancels the end of the reader's thread, and pcscd waits
      // for that thread ten minutes long.
      try await client.ask("await absent \(name)")
      try await testbed.unplug(path)
      // pcscd removes one after the other.
      for reader in [name, other] { try await client.ask("await-no-reader \(reader)") }
      #expect(try await client.ask("list").isEmpty)
    }
    await daemon.kill()
    await readers.stop()
  }
}

@Suite(.serialized, .timeLimit(.minutes(5)), StopsAtEnd()) struct CardControlTests {
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
