import Journal
import Testing

import ReaderProtocol

@testable import Daemon

/// The end of a process that is asked to shut down, or that survives a kill.
@Suite struct ReaderStoppingTests {
  @Test func `a process is asked to shut down and killed if it does not reply`() {
    var rig = SupervisionRig.started()
    rig(.stop, expecting: [.send(.shutDown)])
    #expect(rig.advance(.milliseconds(999)) == [])
    #expect(rig.advance(.milliseconds(1)) == [.kill])
    rig(.exited("killed by signal 9 (Killed)"), expecting: [.finish])
    rig(.start, expecting: [])
    #expect(rig.advance(.seconds(60)) == [])
  }

  /// A process that is killed in the middle of an exchange would leave its field on.
  @Test func `a stopping process is not killed before the time that it promised`() {
    var rig = SupervisionRig.started()
    _ = rig(.received(.heartbeat(within: 2000)))
    _ = rig(.stop)
    #expect(rig.advance(.milliseconds(2399)) == [])
    // It closes its device now, and sends a heartbeat.
    rig(.received(.heartbeat(within: 2000)), expecting: [])
    #expect(rig.advance(.milliseconds(2399)) == [])
    rig(.exited("exited with code 0"), expecting: [.finish])
  }

  @Test func `a stopping process that stays busy is killed at the stop limit`() {
    var rig = SupervisionRig.started()
    _ = rig(.received(.heartbeat(within: 2000)))
    _ = rig(.stop)
    for _ in 1..<15 {
      #expect(rig.advance(.seconds(1)) == [])
      _ = rig(.received(.heartbeat(within: .max)))
      // A process that is stopping may not sleep.
      _ = rig(.received(.heartbeat(within: 0)))
    }
    #expect(rig.advance(.seconds(1)) == [.kill])
    #expect(rig.advance(ReaderTiming.kill) == [.abandon])
  }

  @Test func `a killed process is reported as failed before it is dead`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.heartbeat(within: 1000)))
    let failed = ReaderPhase.failed(reason: "the reader process ended: it was not heard of in time")
    #expect(rig.advance(.milliseconds(1400)) == [.kill, .report(.phase(failed, reached: nil))])
    // No more events until the process is dead.
    #expect(rig.advance(.seconds(60)) == [])
    let actions = rig(.exited("killed by signal 9 (Killed)"))
    #expect(actions.suffix(2) == [.spawn, SupervisionRig.goal(1, SupervisionRig.scan)])
  }

  @Test func `the wait for a killed process is limited`() {
    for wasKilledBefore in [false, true] {
      var rig = SupervisionRig.started()
      if wasKilledBefore {
        #expect(rig.advance(.seconds(5)).contains(.kill))
        rig(.stop, expecting: [])
      } else {
        _ = rig(.stop)
        #expect(rig.advance(ReaderTiming.start) == [.kill])
      }
      #expect(rig.advance(.milliseconds(1999)) == [])
      #expect(rig.advance(.milliseconds(1)) == [.abandon])
      #expect(rig.supervision.deadline == nil)
      rig(.exited("killed by signal 9 (Killed)"), expecting: [])
    }
  }

  /// The deadline of an earlier goal no longer applies. The process has the whole stop limit.
  @Test func `a process that is ending has no other deadline`() {
    var rig = SupervisionRig.started()
    _ = rig(.pursue(1, .lent))
    #expect(rig(.violated("garbage")).contains(.kill))
    #expect(rig.supervision.deadline == nil)

    rig = SupervisionRig.scanning()
    _ = rig(.pursue(2, .lent))
    _ = rig(.received(.heartbeat(within: .max)))
    #expect(rig.advance(.seconds(20)) == [])
    rig(.stop, expecting: [.send(.shutDown)])
    for _ in 0..<14 {
      _ = rig(.received(.heartbeat(within: 2000)))
      #expect(rig.advance(.seconds(1)) == [])
    }
    #expect(rig.supervision.timing.breakingOff < .seconds(34))
    #expect(rig.advance(.seconds(1)) == [.kill])
  }

  @Test func `a stop during the pause before a restart finishes at once`() {
    var rig = SupervisionRig.started()
    _ = rig(.exited("x"))
    _ = rig(.startFailed("cannot start it"))
    rig(.stop, expecting: [.finish])
    #expect(rig.supervision.deadline == nil)
  }
}
