import Journal
import Names
import ReaderProtocol
import Testing

@testable import Daemon

/// A process that exits so that its successor may open the device that was plugged in, and tags that make a reader
/// fail.
@Suite struct SuccessionTests {
  private let placement = Placement(number: 1, technology: .type2, uid: [4, 1, 2, 3, 4, 5, 6])

  private func crashes(_ actions: [ReaderSupervision.Action]) -> Bool {
    actions.contains { if case .report(.crashed) = $0 { true } else { false } }
  }

  @Test(arguments: [
    "killed by signal 11 (Segmentation fault)", "killed by signal 31 (Bad system call)", "exited with code 1",
  ])
  func `a crash after a request for a successor is reported`(reason: String) {
    var rig = SupervisionRig.started()
    _ = rig(.received(.successorWanted))
    #expect(crashes(rig(.exited(reason))))
  }

  @Test func `a process that uses a device after it asked for a successor is killed`() {
    let messages: [ReaderMessage] = [
      .examining(placement), .tag(epoch: 0, TagReport(placement: placement, content: .message([]))),
      .state(.ready(name: "x", device: "x")),
    ]
    for message in messages {
      var rig = SupervisionRig.started()
      _ = rig(.received(.examining(placement)))
      _ = rig(.received(.successorWanted))
      #expect(rig(.received(message)).first == .kill, "\(message)")
      #expect(crashes(rig(.exited("killed by signal 9 (Killed)"))))
    }
  }

  private let scan = SupervisionRig.scan

  /// The session's tags were on the reader that was unplugged.
  @Test func `tags on a reader that was plugged in again are announced`() {
    var rig = SupervisionRig.ready()
    _ = rig(.pursue(1, .session(TagSessionOptions(number: 1))))
    _ = rig(.pursue(2, scan))
    _ = rig(.received(.state(.absent(reason: "away"))))
    _ = rig(.received(.successorWanted))
    rig(.exited("exited with code 0"), expecting: [.spawn, SupervisionRig.goal(2, scan)])
  }

  @Test func `a loan continues in the successor and the first tags after it are known`() {
    var rig = SupervisionRig.ready()
    _ = rig(.pursue(1, .lent))
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")).suffix(2) == [.spawn, SupervisionRig.goal(1, .lent, first: true)])
    _ = rig(.received(.reached(epoch: 1)))
    _ = rig(.pursue(2, scan))
    #expect(rig(.exited("exited with code 1")).contains(SupervisionRig.goal(2, scan, first: true)))
  }

  /// The next scan may be for another user.
  @Test func `the first tags of a successor are known if the stop was not confirmed`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.pursue(2, .off))
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")).suffix(2) == [.spawn, SupervisionRig.goal(2, .off, first: true)])
  }

  // MARK: A process with another configuration

  @Test func `a restart asks the process to end, and the next one gets the goal`() {
    var rig = SupervisionRig.scanning()
    rig(.restart, expecting: [.send(.shutDown)])
    let absent = ReaderPhase.absent(reason: "its process starts again")
    rig(
      .exited("exited with code 0"),
      expecting: [.report(.phase(absent, reached: nil)), .spawn, SupervisionRig.goal(1, scan)])
    // The next process has the new configuration anyway.
    _ = rig(.violated("garbage"))
    rig(.restart, expecting: [])
  }

  @Test func `a process that does not end for a restart is killed`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.restart)
    #expect(rig.advance(ReaderTiming.stop).first == .kill)
    #expect(crashes(rig(.exited("killed by signal 9 (Killed)"))))
  }

  @Test func `a reader session ends with a restart`() {
    var rig = SupervisionRig.ready()
    _ = rig(.pursue(1, .session(TagSessionOptions(number: 1))))
    _ = rig(.received(.reached(epoch: 1)))
    _ = rig(.restart)
    #expect(rig(.exited("exited with code 0")).suffix(2) == [.spawn, SupervisionRig.goal(1, .off, first: true)])
  }

  /// A process restarts at the beginning and at the end of a trace. The tag lies there all the time, and each process
  /// has seen it.
  @Test func `a tag with a random UID is recognized after several restarts`() {
    let placement = Placement(number: 1, technology: .type4A, uid: [8, 2, 3, 4])
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.examining(placement)))
    _ = rig(.received(.tag(epoch: 1, TagReport(placement: placement, content: .problem(reason: "x")))))
    let known = SupervisionRig.known(placement, number: 1 << 32 | 1, mayHaveChanged: true)
    for _ in 1...2 {
      rig.now += .seconds(60)
      _ = rig(.restart)
      #expect(rig(.exited("exited with code 0")).suffix(2) == [.spawn, SupervisionRig.goal(1, scan, [known])])
      _ = rig(.received(.state(.ready(name: "x", device: "y"))))
      _ = rig(.received(.reached(epoch: 1)))
      _ = rig(.received(.heartbeat(within: 0)))
    }
  }

  // MARK: A device that has failed

  /// pcscd has ended, for example. The tags still lie on the reader, and the successor connects again.
  private func succeed(_ rig: inout SupervisionRig) -> [ReaderSupervision.Action] {
    _ = rig(.received(.successorWanted))
    return Array(rig(.exited("exited with code 0")).suffix(2))
  }

  @Test func `a tag that was being read when the device failed is new to the successor`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.examining(placement)))
    _ = rig(.received(.removed(placement: 1)))
    _ = rig(.received(.state(.failed(reason: "pcscd has ended"))))
    let actions = succeed(&rig)
    #expect(actions == [.spawn, SupervisionRig.goal(1, scan)])
  }

  @Test func `a tag that is placed while the device has failed is new to the successor`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.state(.failed(reason: "pcscd has ended"))))
    _ = rig(.pursue(2, .off))
    #expect(succeed(&rig) == [.spawn, SupervisionRig.goal(2, .off)])
  }

  @Test func `a tag that was announced before the device failed is known to the successor`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.examining(placement)))
    _ = rig(.received(.tag(epoch: 1, TagReport(placement: placement, content: .problem(reason: "x")))))
    _ = rig(.received(.state(.failed(reason: "pcscd has ended"))))
    let actions = succeed(&rig)
    let known = SupervisionRig.known(placement, number: 1 << 32 | 1)
    #expect(actions == [.spawn, SupervisionRig.goal(1, scan, [known])])
  }

  /// The goal changes before or after the process makes way.
  @Test(arguments: [false, true]) func `the tags of a session are known to the successor`(isLate: Bool) {
    var rig = SupervisionRig.ready()
    _ = rig(.pursue(1, .session(TagSessionOptions(number: 1))))
    _ = rig(.received(.reached(epoch: 1)))
    _ = rig(.received(.state(.failed(reason: "pcscd has ended"))))
    if !isLate { _ = rig(.pursue(2, scan)) }
    let actions = succeed(&rig)
    #expect(actions == [.spawn, SupervisionRig.goal(isLate ? 1 : 2, isLate ? .off : scan, first: true)])
    guard isLate else { return }
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    _ = rig(.received(.reached(epoch: 1)))
    rig(.pursue(2, scan), expecting: [SupervisionRig.goal(2, scan, first: true)])
  }

  // MARK: Tags that make the reader fail

  /// Starts to read the tag, is interrupted, and fails.
  ///
  /// Returns whether the tag is reported as unreadable.
  private func failReading(
    _ rig: inout SupervisionRig, number: UInt64, between: ReaderMessage? = nil, after pause: Duration = .zero
  ) -> Bool {
    _ = rig(.received(.state(.ready(name: "x", device: "x"))))
    _ = rig(.received(.heartbeat(within: 0)))
    _ = rig(.received(.examining(Placement(number: number, technology: placement.technology, uid: placement.uid))))
    _ = rig(.received(.removed(placement: number)))
    if let between { _ = rig(.received(between)) }
    rig.now += pause
    return rig(.received(.state(.failed(reason: "gone")))).contains {
      if case .report(.tag) = $0 { true } else { false }
    }
  }

  @Test func `a tag is reported as unreadable after three failures of the reader`() {
    var rig = SupervisionRig.started()
    let times = (UInt64(1)...3).map { failReading(&rig, number: $0, after: ReaderTiming.grace) }
    #expect(times == [false, false, true])
  }

  /// The tag was removed too early, and the reader fails for another reason.
  @Test(arguments: [ReaderMessage.reached(epoch: 2), .state(.ready(name: "y", device: "y"))])
  func `a failure after the reader has worked is not blamed on the tag`(message: ReaderMessage) {
    for number in UInt64(1)...4 {
      var rig = SupervisionRig.scanning()
      for _ in 1..<InterruptionLedger.most { #expect(!failReading(&rig, number: number)) }
      if case .reached = message { _ = rig(.pursue(2, .off)) }
      #expect(!failReading(&rig, number: number, between: message))
    }
  }

  @Test func `a failure long after a read is not blamed on the tag`() {
    var rig = SupervisionRig.started()
    for number in UInt64(1)...4 { #expect(!failReading(&rig, number: number, after: .seconds(3600))) }
  }

  @Test func `failures that are far apart are not counted together`() {
    var rig = SupervisionRig.started()
    for number in UInt64(1)...4 {
      rig.now += .seconds(3600)
      #expect(!failReading(&rig, number: number))
    }
  }
}

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
