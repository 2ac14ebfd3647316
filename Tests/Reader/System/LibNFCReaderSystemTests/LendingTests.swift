import Daemon
import EventLoop
import Glibc
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReader
@testable import LibNFCReaderTests
@testable import ReaderKit
@testable import ReaderProtocol

/// A device that is lent to another program.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LendingTests {
  enum Occupation: CaseIterable { case asleep, scanning, reading, inSession }

  @Test(
    .enabled(if: getuid() == 0, "only root sees the open files of a process that cannot be dumped"),
    arguments: Occupation.allCases)
  func `a loan closes the device, and its end opens it again`(_ occupation: Occupation) async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    let bytes = try uri("https://example.com/" + String(repeating: "x", count: 400))
    let child = try #require(await rig.process.processID)
    switch occupation {
    case .asleep: break
    case .scanning:
      try await rig.scan(true)
    case .reading:
      await rig.simulator.place(try .type2(.ntag215, message: bytes))
      let before = await rig.simulator.counters.commands
      await rig.setScanning(true)
      // A poll and the first exchanges of the read.
      try await rig.simulator.wait { $0.counters.commands >= before + 4 }
    case .inSession:
      await rig.simulator.place(try .type2(.ntag215, message: bytes))
      try await rig.begin(TagSessionOptions(number: 1))
      let tag = try await rig.sessionTag()
      await rig.ask(.read, tag)
    }
    try await rig.startLoan()
    #expect(await !rig.simulator.isFieldOn)
    try await rig.isAsleep()
    #expect(try descriptors(of: child).allSatisfy { !$0.hasPrefix("/dev/pts/") })
    // During the loan, the process ignores plugged devices and new goals.
    await rig.process.lookForDevice()
    await rig.setScanning(true)
    try await rig.isAsleep()
    let commands = await rig.simulator.counters.commands
    let isOpened = try await opens(await rig.simulator.connectionString)
    #expect(isOpened)
    #expect(await rig.simulator.counters.commands > commands)
    await rig.lend(false)
    try await rig.isReady()
    try await rig.expect(.scanning(true))
    #expect(await rig.process.processID == child)
  }

  @Test(arguments: [false, true])
  func `tags placed during a loan are not announced, but the next tag is`(isRandom: Bool) async throws {
    let rig = try await ReaderRig.scanning()
    try await rig.startLoan()
    let bytes = try uri("https://example.com/1")
    let ids = [
      await rig.simulator.place(try isRandom ? .type4(message: bytes, uid: .random) : .type2(.ntag213, message: bytes)),
      await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/3"))),
    ]
    await rig.lend(false)
    try await rig.expect(.scanning(true))
    try await rig.commands(80)
    for id in ids { await rig.simulator.remove(id) }
    try await rig.commands(40)
    #expect(!rig.seen.contains { if case .tag = $0 { true } else { false } })
    try await rig.announces("https://example.com/2")
  }

  @Test func `a tag announced before a loan keeps its placement`() async throws {
    let rig = try await ReaderRig.scanning()
    let (id, placement) = try await rig.announces("https://example.com")
    try await rig.startLoan()
    await rig.lend(false)
    try await rig.expect(.scanning(true))
    try await rig.commands(40)
    try await rig.takeAway(id, placement)
  }

  @Test func `an absent reader can be lent`() async throws {
    let rig = try await ReaderRig(isPluggedIn: false, isFollowed: true)
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    try await rig.startLoan()
    try await rig.simulator.plug()
    await rig.process.lookForDevice()
    try await rig.isAsleep()
    #expect(await rig.simulator.counters.commands == 0)
    await rig.lend(false)
    try await rig.isReady()
  }

  private func descriptors(of process: Int32) throws -> [String] {
    let folder = "/proc/\(process)/fd"
    return try #require(fileNames(in: folder)).compactMap { name in
      var buffer = [CChar](repeating: 0, count: 512)
      let count = readlink("\(folder)/\(name)", &buffer, buffer.count)
      return count > 0 ? String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
  }

  /// `nfc_init` fills a table that all contexts share, so there is one. Opening a device only reads it.
  nonisolated(unsafe) private static let context = NFCDevice.makeContext()

  /// Whether another user of libnfc can open the device and send it a command.
  private func opens(_ connectionString: String) async throws -> Bool {
    try await DedicatedThread.run {
      Result {
        let device = try NFCDevice.open(connectionString, try #require(Self.context), nil)
        _ = try device.select(.typeA)
        return true
      }
    }.get()
  }
}
