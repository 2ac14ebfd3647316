import Bus
import Glibc
import Journal
import ReaderLink
import TestSupport
import Testing

/// The real `tagrouted` and a machine that goes to sleep.
@Suite(.timeLimit(.minutes(5))) struct SleepTests {
  @Test func theMachineSleepsOnceTheFieldIsOffAndNotBefore() async throws {
    let rig = try await DaemonRig()
    let logind = try #require(rig.logind)
    let agent = try await rig.agent()
    try await rig.scanning(true)
    await logind.untilHeld(1)
    let lock = try #require(await logind.locks.first)
    #expect((lock.what, lock.who, lock.mode) == ("sleep", "Tagroute", "delay"))

    await rig.reader.answersOrders(false)
    // What the reader has said before has been heard by then.
    await rig.reader.say(.log(.notice, "the field is on"))
    try await rig.daemon.line(containing: "the field is on")
    try await logind.prepareForSleep(true)
    try await rig.scanning(false)
    // The order has reached the reader, which has not said yet that its field is off.
    await rig.reader.say(.log(.notice, "the field is still on"))
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

  @Test func aFieldThatIsAboutToGoOnIsWaitedForToo() async throws {
    let rig = try await DaemonRig()
    let logind = try #require(rig.logind)
    await logind.untilHeld(1)
    await rig.reader.answersOrders(false)
    let agent = try await rig.agent()
    try await rig.scanning(true)
    // The reader opens its device and has not said that its field is on.
    try await logind.prepareForSleep(true)
    try await rig.scanning(false)
    await rig.reader.say(.log(.notice, "the field is on after all"))
    // What the daemon does about sleep is done by then.
    try await rig.daemon.line(containing: "the field is on after all")
    #expect(await logind.locks.count == 1)
    await rig.reader.reach()
    await logind.untilHeld(0)
    await agent.connection.close()
  }

  @Test func aLogindThatRestartsIsAskedForALockAnew() async throws {
    let rig = try await DaemonRig()
    let logind = try #require(rig.logind)
    await logind.untilHeld(1)
    try await logind.restart()
    await logind.untilGiven(2)
    await logind.untilHeld(1)
  }

  @Test func theDaemonsEndLetsTheMachineSleep() async throws {
    let rig = try await DaemonRig()
    let logind = try #require(rig.logind)
    await logind.untilHeld(1)
    rig.daemon.signal(SIGTERM)
    await logind.untilHeld(0)
  }
}
