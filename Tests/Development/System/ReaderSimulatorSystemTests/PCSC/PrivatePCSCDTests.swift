import Glibc
import TestKit
import Testing

@testable import ReaderSimulatorTests

@testable import ReaderSimulator

@Suite(.serialized, .timeLimit(.minutes(5))) struct PrivatePCSCDTests {
  @Test func `two run side by side, each with its own readers`() async throws {
    let first = try await CardRig([.acr122U])
    let second = try await CardRig([.pcTwin])
    #expect(try await first.client.ask("list") == "ACS ACR122U PICC Interface 00 00")
    #expect(try await second.client.ask("list") == "Gemalto PC Twin Reader 00 00")
    await first.stop()
    #expect(try await second.client.ask("list") == "Gemalto PC Twin Reader 00 00")
    await second.stop()
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
    await rig.stop()
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
