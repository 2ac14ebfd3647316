import Daemon
import Glibc
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

/// Readers that are unplugged, also in the middle of a reading.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReaderGoneTests {
  private static let isPossible = DeviceTestbed.isPossible && geteuid() == 0
  private static let obstacle: Comment = "needs root, and a running udev or a devtmpfs at /dev"

  /// A reader of pcscd's configuration file stays in its list, but does not answer. The process gives up after a few
  /// attempts. When the reader is back, pcscd reports a card.
  @Test(arguments: 1...3)
  func `a reader that fails at any command is used again when it is back`(command: Int) async throws {
    let rig = try await CardReaderRig.scanning()
    let bytes = try uri("https://example.com/1")
    await rig.add(.unplug(command: command))
    let id = try await rig.insert(try .type2(.ntag213, message: bytes))
    let slot = rig.slot
    try await rig.wait(for: "the fault") { $0.strikes(in: slot) == 1 }
    try await rig.isAsleep()
    #expect(rig.announced.isEmpty)
    await rig.readers.plug(rig.reader.id)
    let (message, placement) = try await rig.message()
    #expect(message == bytes)
    try await rig.announcesNothing()
    try await rig.takeAway(id, placement)
    try await rig.announces("https://example.com/2")
    #expect(rig.announced.count == 2)
    #expect(!rig.seen.contains { $0.isCrash })
  }

  // MARK: USB devices

  /// A reader on a simulated USB.
  private struct Plug {
    let testbed: DeviceTestbed
    let rig: CardReaderRig

    init(starter: String = #function) async throws {
      testbed = try await DeviceTestbed(starter: starter)
      rig = try await CardReaderRig(testbed: testbed, starter: starter)
    }

    /// `number` is that of the port and of the device on its bus. Returns the device's path.
    @discardableResult func plug(_ number: Int) async throws -> String {
      await rig.readers.plug(rig.reader.id)
      let model = rig.reader.model
      return try await testbed.plugCardReader(
        "1-\(number)", model.usbIdentity, interfaces: model.slots.map(\.interfaceName), number: number)
    }

    func unplug(_ path: String) async throws {
      try await testbed.unplug(path)
      await rig.readers.unplug(rig.reader.id)
    }
  }

  @Test(.enabled(if: isPossible, obstacle))
  func `a reader that is plugged in later is found, and its end is noticed`() async throws {
    let plug = try await Plug()
    let rig = plug.rig
    let reason = try await rig.next("an absent reader") { event in
      if case .phase(.absent(let reason), _) = event { reason } else { nil }
    }
    #expect(reason == "pcscd has no reader \(rig.name); plug it in")
    await rig.setScanning(true)
    let child = await rig.process.processID
    for number in 1...3 {
      let path = try await plug.plug(number)
      try await rig.expect(.scanning(true))
      let (id, placement) = try await rig.announces("https://example.com/\(number)")
      try await plug.unplug(path)
      try await rig.next("an absent reader") { if case .phase(.absent, _) = $0 { true } else { nil } }
      #expect(rig.seen.contains(.removed(placement: placement.number)))
      await rig.remove(id)
    }
    // One process, because pcscd was there all the time.
    #expect(await rig.process.processID == child)
    #expect(!rig.seen.contains { $0.isCrash })
  }

  @Test(.enabled(if: isPossible, obstacle), arguments: 1...3)
  func `a reader that is unplugged at any command loses no tag`(command: Int) async throws {
    let plug = try await Plug()
    let rig = plug.rig
    await rig.setScanning(true)
    let path = try await plug.plug(1)
    try await rig.expect(.scanning(true))
    let bytes = try uri("https://example.com/")
    await rig.add(.hold(command: command))
    try await rig.insert(try .type2(.ntag213, message: bytes))
    try await rig.isHolding()
    try await plug.unplug(path)
    try await rig.next("an absent reader") { if case .phase(.absent, _) = $0 { true } else { nil } }
    #expect(rig.announced.isEmpty)
    try await plug.plug(9)
    try await rig.expect(.scanning(true))
    #expect(try await rig.message().message == bytes)
    try await rig.announcesNothing()
  }

  @Test(.enabled(if: isPossible, obstacle)) func `unplugging the reader ends a session`() async throws {
    let plug = try await Plug()
    let rig = plug.rig
    let path = try await plug.plug(1)
    try await rig.isReady()
    try await rig.begin()
    let tag = try await rig.finds(try .type4(message: try uri("https://example.com/"))).tag
    await rig.add(.hold())
    await rig.ask(.read, tag)
    try await rig.isHolding()
    try await plug.unplug(path)
    #expect(try await rig.result().failure == .deviceLost)
    try await plug.plug(9)
    try await rig.isReady()
  }
}

/// Processes that are killed, or hang, in the middle of a reading.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct KilledProcessTests {
  /// Before the third command, the daemon does not know the tag. Afterwards the tag may be what kills processes, so it
  /// is not read again.
  @Test(arguments: [SIGKILL, SIGSTOP], 1...6)
  func `a tag on which a process died is not read again, and all others are`(signal: Int32, command: Int) async throws {
    let rig = try await CardReaderRig.scanning()
    let bytes = try uri("https://example.com/1")
    await rig.add(.hold(command: command))
    let id = try await rig.insert(try .type4(message: bytes))
    try await rig.isHolding()
    try await rig.killProcess(signal)
    let crash = try await rig.crash()
    #expect((crash.suspect != nil) == (command > 1))
    await rig.readers.release(rig.slot)
    try await rig.expect(.scanning(true))
    if command == 1 {
      #expect(try await rig.message().message == bytes)
    } else {
      try await rig.notices("a tag that was there before")
    }
    try await rig.announcesNothing()
    let card = try #require(await rig.remove(id))
    _ = try await rig.removal()
    try await rig.insert(card)
    #expect(try await rig.message().message == bytes)
  }

  /// Another program had begun a transaction.
  @Test func `a process that waits for another program can be killed`() async throws {
    let rig = try await CardReaderRig.scanning()
    let client = try await rig.client()
    let bytes = try uri("https://example.com/")
    try await rig.whileSuspended {
      try await rig.insert(try .type2(.ntag213, message: bytes))
      try await client.ask("await present \(rig.name)")
      try await client.ask("connect shared \(rig.name)")
      try await client.ask("begin")
    }
    try await rig.next("a wait") { if case .waiting = $0 { true } else { nil } }
    try await rig.killProcess()
    try await rig.expect(.crashed)
    try await rig.next("another wait") { if case .waiting(let reason) = $0, !reason.isEmpty { true } else { nil } }
    try await client.ask("end")
    #expect(try await rig.message().message == bytes)
    try await client.ask("disconnect leave")
    try await rig.announcesNothing()
  }
}
