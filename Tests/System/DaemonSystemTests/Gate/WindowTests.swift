import Bus
import Names
import ReaderLink
import TestRig
import Testing
@testable import DaemonTests

/// The real `tagrouted`: the daemon drops tags that are read while the goal to stop is on its way to the reader.
@Suite(.timeLimit(.minutes(5))) struct WindowTests {
  private enum Change: CaseIterable {
    case lock, anotherSession, sleep, inhibitor, masterSwitch, displayOff, airplaneMode
  }

  /// "http://www.example.net" as a URI record.
  private static let laterMessage: [UInt8] = [0xD1, 0x01, 0x0C, 0x55, 0x01] + Array("example.net".utf8)

  /// A daemon that scanned and has sent the goal to stop. The reader has not reached that goal yet.
  private struct Window {
    let rig: DaemonRig
    let agent: AgentDouble
    let polkit: PolkitStandIn
    /// The values that keep the change in effect.
    var held: [Value]
  }

  private func open(_ change: Change) async throws -> Window {
    let rig = try await DaemonRig()
    let polkit = try await rig.sessionPolkit([Names.PolkitAction.configure, Names.PolkitAction.inhibit])
    let agent = try await rig.startScanning()
    try await rig.holdReader()
    let held = try await make(change, rig, agent)
    try await rig.scanning(false)
    return Window(rig: rig, agent: agent, polkit: polkit, held: held)
  }

  /// Whether the change ends before or after the reader stops.
  private enum Order: CaseIterable { case readerFirst, changeFirst }

  @Test(arguments: Change.allCases, Order.allCases)
  private func `a tag read between a change and the stop of the reader is dropped`(
    change: Change, order: Order
  ) async throws {
    var window = try await open(change)
    let (rig, agent) = (window.rig, window.agent)
    switch order {
    case .readerFirst:
      await rig.reader.tap(.message(Samples.message), number: 1)
      await rig.reader.reach()
      try await rig.daemon.line(containing: "ignored a late tag")
      await rig.reader.answersOrders(true)
      window.held.removeAll()
      try await undo(change, rig, agent)
    case .changeFirst:
      let seen = await rig.daemon.log().count
      window.held.removeAll()
      try await undo(change, rig, agent)
      try await rig.daemon.line(containing: "): scanning", after: seen)
      await rig.reader.tap(.message(Samples.message), number: 1)
      try await rig.daemon.line(containing: "the reader was still stopping")
      await rig.reader.answersOrders(true)
      await rig.reader.reach()
    }
    try await rig.scanning(true)
    await rig.reader.tap(.message(Self.laterMessage), number: 2)
    #expect(try await agent.taps.nextMessage() == Self.laterMessage)
    await window.polkit.stop()
  }

  @Test func `a tag of the previous user is not delivered to the next user`() async throws {
    var other = LogindStandIn.Session(id: "5", uid: DaemonRig.session.uid)
    other.isActive = false
    let rig = try await DaemonRig(sessions: [DaemonRig.session, other])
    let logind = try #require(rig.logind)
    let first = try await rig.agent()
    let second = try await rig.agent()
    try await rig.scanning(true)
    try await rig.holdReader()
    try await logind.update("2") { $0.isActive = false }
    try await logind.update("5") { $0.isActive = true }
    // The reader receives the goal to stop, with or without a moment without an active session.
    try await rig.scanning(false)
    await rig.reader.tap(.message(Samples.message), number: 1)
    try await rig.daemon.line(containing: "ignored a late tag")
    await rig.reader.answersOrders(true)
    await rig.reader.reach()
    try await rig.scanning(true)
    await rig.reader.tap(.message(Self.laterMessage), number: 2)
    #expect(try await second.taps.nextMessage() == Self.laterMessage)
    await first.connection.close()
  }

  /// - Returns: the values that keep the change in effect.
  private func make(_ change: Change, _ rig: DaemonRig, _ agent: AgentDouble) async throws -> [Value] {
    let logind = try #require(rig.logind)
    switch change {
    case .lock: try await logind.update("2") { $0.isLocked = true }
    case .anotherSession: try await logind.update("2") { $0.isActive = false }
    case .sleep: try await logind.prepareForSleep(true)
    case .inhibitor: return try await agent.call("Inhibit", [.string("a"), .string("b")])
    case .masterSwitch: try await agent.setEnabled(false)
    case .displayOff: try await agent.report(["display-off": true])
    case .airplaneMode: try await agent.report(["airplane-mode": true])
    }
    return []
  }

  private func undo(_ change: Change, _ rig: DaemonRig, _ agent: AgentDouble) async throws {
    let logind = try #require(rig.logind)
    switch change {
    case .lock: try await logind.update("2") { $0.isLocked = false }
    case .anotherSession: try await logind.update("2") { $0.isActive = true }
    case .sleep: try await logind.prepareForSleep(false)
    case .inhibitor: break
    case .masterSwitch: try await agent.setEnabled(true)
    case .displayOff, .airplaneMode: try await agent.report([:])
    }
  }
}
