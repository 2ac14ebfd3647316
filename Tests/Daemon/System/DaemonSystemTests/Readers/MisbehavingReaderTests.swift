import Bus
import Journal
import ReaderProtocol
import TestKit
import Testing

@testable import DaemonTests

@testable import Daemon

/// Two readers, one of which is broken or hostile.
@Suite(.timeLimit(.minutes(5))) struct MisbehavingReaderTests {
  /// What a broken or hostile reader process does.
  enum Misdeed: String, CaseIterable, Sendable {
    case crashes, floods, speaksGarbage
  }

  @Test(arguments: Misdeed.allCases)
  func `a misbehaving reader does not affect the other reader`(misdeed: Misdeed) async throws {
    let rig = try await DaemonRig(
      devices: "pn532_uart:/dev/scripted;pn532_uart:/dev/other", others: ["other"],
      starter: "`a misbehaving reader does not affect the other reader`_\(misdeed.rawValue)")
    let other = try #require(rig.others.first)
    let agent = try await rig.startScanning()
    await other.becomeReady()
    for await command in other.commands where command.isScan == true { break }
    await rig.reader.tap(.message(Samples.message), number: 1)
    let seen = await rig.daemon.log().count
    switch misdeed {
    case .crashes:
      for child in try rig.daemon.children() where try child.workingDirectory().hasSuffix("/other") {
        child.signal(11)
      }
      try await rig.daemon.line(containing: "/dev/other) ended: killed by signal 11", after: seen)
    case .floods:
      for number in 0..<400 { await other.send(.log(.error, "a"), .state(.failed(reason: "\(number)"))) }
      try await rig.daemon.line(containing: "/dev/other) ended", after: seen)
    case .speaksGarbage:
      await other.send(bytes: [0xFF, 0xFF, 0xFF, 0xFF])
      try await rig.daemon.line(containing: "/dev/other) ended: it sent", after: seen)
    }
    await rig.reader.tap(.message(Samples.message), number: 2)
    for _ in 1...2 { #expect(try await agent.taps.nextMessage() == Samples.message) }
    #expect(await !rig.daemon.log().contains { $0.contains("process of reader Scripted (pn532_uart:/dev/scripted)") })
    #expect(await rig.daemon.log().count < 400)
    #expect(try await agent.property("Scanning")?.asBool == true)
  }
}
