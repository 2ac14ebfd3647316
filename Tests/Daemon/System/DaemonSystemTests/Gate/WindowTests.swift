import Bus
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import DaemonTests

/// The real `tagrouted`: the daemon drops tags that are read while the goal to stop is on its way to the reader.
@Suite(.timeLimit(.minutes(5))) struct WindowTests {
  /// Whether the lock ends before or after the reader stops.
  private enum Order: CaseIterable { case readerFirst, lockFirst }

  @Test(arguments: Order.allCases)
  private func `a tag read between a lock and the stop of the reader is dropped`(order: Order) async throws {
    let (rig, agent) = try await DaemonRig.scanning(
      starter: "`a tag read between a lock and the stop of the reader is dropped`_\(order)")
    let logind = try #require(rig.logind)
    try await rig.holdReader()
    try await logind.update("2") { $0.isLocked = true }
    try await rig.scanning(false)
    switch order {
    case .readerFirst:
      await rig.reader.tap(.message(Samples.message), number: 1)
      await rig.reader.reach()
      try await rig.daemon.line(containing: "ignored a late tag")
      await rig.reader.answersOrders(true)
      try await logind.update("2") { $0.isLocked = false }
    case .lockFirst:
      let seen = await rig.daemon.log().count
      try await logind.update("2") { $0.isLocked = false }
      try await rig.daemon.line(containing: "): scanning", after: seen)
      await rig.reader.tap(.message(Samples.message), number: 1)
      try await rig.daemon.line(containing: "the reader was still stopping")
      await rig.reader.answersOrders(true)
      await rig.reader.reach()
    }
    try await rig.scanning(true)
    await rig.reader.tap(.message(link("example.net")), number: 2)
    #expect(try await agent.taps.nextMessage() == link("example.net"))
  }
}
