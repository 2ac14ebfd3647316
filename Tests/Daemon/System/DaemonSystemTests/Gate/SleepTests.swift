import Bus
import Glibc
import Journal
import ReaderProtocol
import TestKit
import Testing

/// The real `tagrouted` and a machine that goes to sleep.
@Suite(.timeLimit(.minutes(5))) struct SleepTests {
  @Test func `the machine sleeps only once the field is off`() async throws {
    let rig = try await DaemonRig()
    let logind = try #require(rig.logind)
    let agent = try await rig.startScanning()
    await logind.untilHeld(1)
    let lock = try #require(await logind.locks.first)
    #expect((lock.what, lock.who, lock.mode) == ("sleep", "Tagroute", "delay"))

    await rig.reader.answersOrders(false)
    // Once this line is in the log, the daemon has handled all earlier messages of the reader.
    await rig.reader.send(.log(.notice, "the field is on"))
    try await rig.daemon.line(containing: "the field is on")
    try await logind.prepareForSleep(true)
    try await rig.scanning(false)
    // The reader has received the goal, but has not reported that its field is off.
    await rig.reader.send(.log(.notice, "the field is still on"))
    try await rig.daemon.line(containing: "the field is still on")
    #expect(await logind.locks.count == 1)
    await rig.reader.reach()
    await logind.untilHeld(0)

    await rig.reader.answersOrders(true)
    try await logind.prepareForSleep(false)
    try await rig.scanning(true)
    await logind.untilHeld(1)
    await agent.connection.close()
  }

  @Test func `the daemon takes a new sleep lock after a restart of logind`() async throws {
    let rig = try await DaemonRig()
    let logind = try #require(rig.logind)
    await logind.untilHeld(1)
    try await logind.restart()
    await logind.untilGiven(2)
    await logind.untilHeld(1)
  }
}
