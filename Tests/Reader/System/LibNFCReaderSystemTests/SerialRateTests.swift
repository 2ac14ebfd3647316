import Daemon
import EventLoop
import Glibc
import Journal
import Names
import TestKit
import Testing

@testable import ReaderSimulator

/// The rate of the line to a PN532, which the reader process raises while it has the device open.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct SerialRateTests {
  private static let complaint = "the serial line is used at 115200 baud, because it does not work at a higher one"
  private static let toInitial: [UInt8] = [0x10, 0x04]

  @Test func `the rate is raised, and another program finds the initial one during a loan and afterwards`() async throws
  {
    let rig = try await ReaderRig.scanning()
    #expect(await rig.simulator.rate == 921_600)
    let (id, placement) = try await rig.announces("https://example.com/1")
    try await rig.takeAway(id, placement)
    try await rig.startLoan()
    try await opensWithNFCList(rig)
    await rig.lend(false)
    try await rig.expect(.scanning(true))
    #expect(await rig.simulator.rate == 921_600)
    try await rig.commands(40)
    try await rig.announces("https://example.com/2")
    await rig.process.stop()
    try await opensWithNFCList(rig)
    #expect(complaints(rig).isEmpty)
  }

  @Test func `a rate in the device's name is kept`() async throws {
    let rig = try await ReaderRig(rate: ":115200")
    try await rig.isReady()
    #expect(await rig.simulator.rate == 115_200)
    #expect(await changes(rig) == [])
    try await rig.announces(afterScanning: "https://example.com")
    #expect(complaints(rig).isEmpty)
  }

  /// A chip, recorded in a trace, that answers these commands with an error frame, or with another echo.
  @Test(
    arguments: [
      (#"{"to":"1007","result":-1}"#, 460_800), (#"{"to":"1007","result":-1}\#n{"to":"1006","result":-1}"#, 115_200),
      (wrongEcho, 115_200), ("\(wrongEcho)\n\(rightEcho)", 460_800),
    ])
  func `a chip that refuses a rate, or does not work at it, gets a lower one`(trace: String, rate: Int) async throws {
    let lines = #"{"trace":1}"# + "\n" + trace
    let rig = try await ReaderRig(recording: try TraceReplay(Array(lines.utf8)))
    try await rig.isReady()
    #expect(await rig.simulator.rate == rate)
    try await rig.announces(afterScanning: "https://example.com")
    // The process opens the device again, and does not try again in vain.
    try await rig.startLoan()
    let before = await changes(rig)
    await rig.lend(false)
    try await rig.expect(.scanning(true))
    if rate == 115_200 { #expect(await changes(rig) == before) }
    #expect(complaints(rig).count == (rate == 115_200 ? 1 : 0))
  }

  private static let echo = "0000" + (0..<16).map { Hexadecimal.text([$0 * 17, ~($0 * 17), 0x55, 0xFF]) }.joined()
  private static let wrongEcho = #"{"to":"00\#(echo)","from":"00"}"#
  private static let rightEcho = #"{"to":"00\#(echo)","from":"\#(echo)"}"#

  /// Such a chip can be reached again only when it has lost its power.
  @Test func `behind a bridge with a fixed rate, the failure names the remedy`() async throws {
    let rig = try await ReaderRig(isBridged: true)
    // The first attempt raises the rate. The next ones find no chip, for the same reason.
    for _ in 0..<2 {
      #expect(try await rig.failed().contains("if this recurs, write :115200 behind its path in Devices="))
    }
    await rig.simulator.interruptPower()
    await rig.process.lookForDevice()
    try await rig.isReady()
    #expect(await rig.simulator.rate == 115_200)
    try await rig.announces(afterScanning: "https://example.com")
  }

  enum Step: CaseIterable {
    case asked, acknowledged, checked, open, takenBack, back

    /// Whether the chip has come so far.
    func isReached(_ reader: isolated SimulatedReader) -> Bool {
      switch self {
      case .asked: reader.commands.contains { $0.command == [0x10, 0x07] }
      case .acknowledged: reader.rate == 921_600
      case .checked: reader.rate == 921_600 && reader.commands.contains { $0.command.count > 60 }
      case .open: true
      case .takenBack: reader.commands.contains { $0.command == SerialRateTests.toInitial }
      case .back: reader.rate == 115_200
      }
    }
  }

  @Test(arguments: Step.allCases)
  func `a device whose process was killed at a step of the change is opened again`(step: Step) async throws {
    let rig = try await ReaderRig()
    await rig.process.wait { $0.processID != nil }
    let child = try #require(await rig.process.processID)
    if [.open, .takenBack, .back].contains(step) {
      try await rig.isReady()
      #expect(await rig.simulator.rate == 921_600)
    }
    if [.takenBack, .back].contains(step) { await rig.lend(true) }
    try await rig.simulator.wait { reader in
      guard step.isReached(reader) else { return false }
      kill(child, SIGKILL)
      return true
    }
    _ = try await rig.crash()
    await rig.lend(false)
    try await rig.announces(afterScanning: "https://example.com")
    #expect(await rig.simulator.rate == 921_600)
  }

  /// As after a restart of the machine, which has left the chip its power.
  @Test(arguments: [UInt8(0x07), 0x06])
  func `a chip at another rate is found, although the kernel does not know its rate`(code: UInt8) async throws {
    let rig = try await ReaderRig.asleep()
    try await rig.startLoan()
    let path = await rig.simulator.path
    let host = FileDescriptor(owning: open(path, O_RDWR | O_NOCTTY | O_CLOEXEC))
    let command = HostFrame.information([HostFrame.hostIdentifier, 0x10, code]).bytes + HostFrame.acknowledge.bytes
    #expect(write(host.rawValue, command, command.count) == command.count)
    try await rig.simulator.wait { $0.rate > 115_200 }
    await rig.lend(false)
    try await rig.announces(afterScanning: "https://example.com")
    #expect(await rig.simulator.rate == 921_600)
  }

  /// An adapter on USB may keep its power in a suspension, and the chip not.
  @Test func `a chip that has lost its power is opened again, at its initial rate`() async throws {
    let rig = try await ReaderRig.asleep()
    for _ in 0..<2 {
      #expect(await rig.simulator.rate == 921_600)
      await rig.simulator.interruptPower()
      await rig.setScanning(true)
      try await rig.expect(.failed)
      try await rig.expect(.scanning(true))
    }
    try await rig.announces("https://example.com")
    // After the second time, the rate may be the reason.
    #expect(await rig.simulator.rate == 115_200)
    #expect(complaints(rig).count == 1)
  }

  private func opensWithNFCList(_ rig: ReaderRig, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    #expect(await rig.simulator.rate == 115_200, sourceLocation: sourceLocation)
    let environment = [
      "LIBNFC_AUTO_SCAN": "false", "LIBNFC_DEVICE": await rig.simulator.connectionString, "PATH": "/usr/bin:/bin",
    ]
    let list = try BuiltProducts.systemProgram("nfc-list", package: "libnfc-bin")
    let result = try await ChildProcess.run(list, environment: environment)
    #expect(result.output.contains("opened"), "\(result.log)", sourceLocation: sourceLocation)
  }

  /// The commands that change the rate, so far.
  private func changes(_ rig: ReaderRig) async -> [[UInt8]] {
    await rig.simulator.commands.map(\.command).filter { $0.first == 0x10 }
  }

  private func complaints(_ rig: ReaderRig) -> [String] {
    rig.seen.compactMap { event in
      if case .log(.info, let line) = event, line.contains(Self.complaint) { line } else { nil }
    }
  }
}

extension ReaderRig {
  /// Starts scanning, and expects that the next tag is announced. A tag that the first looks find may be known.
  fileprivate func announces(afterScanning link: String) async throws {
    try await scan(true)
    try await commands(40)
    try await announces(link)
  }
}
