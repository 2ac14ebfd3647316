import Daemon
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests

/// Readers that fail while they read a tag.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct InterruptedReadingTests {
  @Test func `stopping and restarting scanning drops the tag that is being read`() async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/before")))
    try await rig.isAsleep()
    await rig.simulator.add(.delay(.milliseconds(300), command: 4))
    await rig.setScanning(true)
    try await rig.simulator.wait { $0.strikes == 1 }
    await rig.setScanning(false)
    try await rig.scan(true)
    try await rig.announcesOnlyWhatComesNow()
  }

  /// A card of these types without NDEF does not answer the first exchange either.
  @Test(arguments: [false, true]) func `a lost radio frame loses no tap`(isFeliCa: Bool) async throws {
    let rig = try await ReaderRig.asleep()
    let bytes = try uri("https://example.com")
    await rig.simulator.place(try isFeliCa ? .type3(message: bytes) : .mifareClassic(.classic1K, message: bytes))
    await rig.simulator.add(.radio(.unheard))
    await rig.setScanning(true)
    #expect(try await rig.message().message == bytes)
    #expect(await rig.simulator.strikes == 1)
  }

  @Test func `a tag is reported as unreadable if the reader fails at each attempt`() async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    // The commands that open the device and switch the field off. The next command is the poll.
    try await rig.isAsleep()
    let look = await rig.simulator.counters.commands
    await rig.simulator.unplug()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    await rig.setScanning(true)
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    for _ in 1...3 {
      await rig.simulator.add(.unplug(command: look + 2))
      try await rig.simulator.plug()
      try await rig.simulator.wait { !$0.isPluggedIn }
    }
    let report = try await rig.tag()
    guard case .problem(let reason) = report.content else { throw RigError("expected a problem, got \(report)") }
    #expect(reason.hasPrefix("the reader failed at each attempt to read the tag: "))
    try await rig.simulator.plug()
    try await rig.isReady()
    await rig.simulator.removeAll()
    try await rig.announces("https://example.com/2")
  }
}
