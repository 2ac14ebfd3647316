import Journal
import Testing

@testable import ReaderLink

@Suite struct ReaderSupervisionTests {
  let placement = Placement(number: 1, technology: "type-4a", uid: [4, 2, 3, 4, 5, 6, 7])
  var announced: Placement { Placement(number: 1 << 32 | 1, technology: placement.technology, uid: placement.uid) }

  @Test func startsOnceAndWaitsForTheFirstWord() {
    var rig = SupervisionRig()
    #expect(rig(.start) == [.spawn])
    #expect(rig(.start) == [])
    #expect(rig.remaining == .seconds(5))
    #expect(rig.advance(.seconds(5)).contains(.kill))
  }

  @Test func aProcessThatSleepsHasNoDeadline() {
    var rig = SupervisionRig()
    _ = rig(.start)
    #expect(rig(.received(.heartbeat(within: 0))) == [])
    #expect(rig.supervision.deadline == nil)
    #expect(rig.advance(.seconds(86400)) == [])
  }

  @Test func aMissedHeartbeatKills() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.heartbeat(within: 1000)))
    #expect(rig.advance(.milliseconds(1350)) == [])
    #expect(rig.advance(.milliseconds(50)).contains(.kill))
    #expect(rig.advance(.seconds(60)) == [])
  }

  @Test func aPromiseIsBounded() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.heartbeat(within: .max)))
    #expect(rig.advance(ReaderTiming.longestPromise + ReaderTiming.grace).contains(.kill))
  }

  @Test func aCommandMustBeAnswered() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig(.scan(true)) == [.send(.scan(true))])
    #expect(rig.advance(.seconds(1)).contains(.kill))
  }

  @Test func aProcessThatIsToLookForItsDeviceMustAnswer() {
    var rig = SupervisionRig()
    #expect(rig(.lookForDevice) == [])
    _ = rig(.start)
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig(.lookForDevice) == [.send(.lookForDevice)])
    #expect(rig.remaining == .seconds(1))
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.remaining == nil)
  }

  @Test func aDeviceThatComesEndsTheWaitForANewProcess() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.exited("x"))
    #expect(!rig(.exited("x")).contains(.spawn))
    #expect(rig(.lookForDevice) == [.spawn])
    #expect(rig(.lookForDevice) == [.send(.lookForDevice)])
    // Only once: a device that comes and goes with each process would make them without end.
    #expect(!rig(.exited("x")).contains(.spawn))
    #expect(rig(.lookForDevice) == [])
    #expect(rig.advance(rig.remaining ?? .zero) == [.spawn])
    _ = rig(.exited("x"))
    #expect(rig(.lookForDevice) == [.spawn])
  }

  @Test func aBusyProcessKeepsTheTimeItNamed() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.heartbeat(within: 5000)))
    _ = rig(.scan(true))
    #expect(rig.remaining == .milliseconds(5400))
  }

  @Test func theFirstRestartIsAtOnceAndLaterOnesPause() {
    var rig = SupervisionRig()
    _ = rig(.start)
    let first = rig(.exited("exited with code 1"))
    #expect(first.last == .spawn)
    var pauses: [Duration] = []
    for _ in 0..<8 {
      #expect(!rig(.exited("exited with code 1")).contains(.spawn))
      let pause = rig.remaining ?? .zero
      pauses.append(pause)
      #expect(rig.advance(pause) == [.spawn])
    }
    #expect(pauses == [.milliseconds(250), .milliseconds(500)] + [1, 2, 5, 10, 30, 30].map { .seconds($0) })
  }

  @Test func aProcessThatEndsForAnotherHasNotFailed() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.scan(true))
    _ = rig(.received(.state(.absent(reason: "away"))))
    for _ in 0..<3 {
      #expect(rig(.received(.successorWanted)) == [])
      #expect(rig(.exited("exited with code 0")) == [.spawn, .send(.scan(true))])
    }
    // The next one has not said so.
    #expect(
      rig(.exited("exited with code 0")).contains(
        .report(.state(.failed(reason: "the reader process ended: exited with code 0")))))
  }

  /// Each process would try it once more.
  @Test func aTagThatTakesTheReaderFromOneProcessAfterTheOtherIsAnnouncedAndLeftAlone() {
    var rig = SupervisionRig()
    _ = rig(.start)
    for round in 1...3 {
      _ = rig(.received(.state(.ready(name: "x", device: "x"))))
      _ = rig(.received(.examining(placement)))
      _ = rig(.received(.removed(placement: placement.number)))
      let actions = rig(.received(.state(.failed(reason: "gone"))))
      let problems = actions.compactMap { if case .report(.tag(let report)) = $0 { report.content } else { nil } }
      #expect(problems == (round < 3 ? [] : [.problem(reason: "the reader failed each time it was read: gone")]))
      #expect(actions.contains(.send(.avoid(avoided(true)))) == (round == 3))
      _ = rig(.received(.successorWanted))
      #expect(rig(.exited("exited with code 0")).contains(.send(.avoid(avoided(true)))) == (round == 3))
    }
  }

  @Test func aTagThatWasReadMeanwhileTakesNoReader() {
    var rig = SupervisionRig()
    _ = rig(.start)
    for number in UInt64(1)...6 {
      let placement = Placement(number: number, technology: placement.technology, uid: placement.uid)
      _ = rig(.received(.state(.ready(name: "x", device: "x"))))
      _ = rig(.received(.examining(placement)))
      if number == 3 {
        _ = rig(.received(.tag(TagReport(placement: placement, content: .problem(reason: "x")))))
      } else {
        _ = rig(.received(.removed(placement: number)))
      }
      let actions = rig(.received(.state(.failed(reason: "gone"))))
      #expect(actions.contains { if case .report(.tag) = $0 { true } else { false } } == (number == 6))
    }
  }

  @Test func aProcessThatWantsASuccessorAndDoesNotEndIsKilled() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.successorWanted))
    #expect(rig.advance(ReaderSupervision.hangUpAllowance).first == .kill)
  }

  @Test func processesThatEndForOthersWithoutEndHaveFailed() {
    var rig = SupervisionRig()
    _ = rig(.start)
    for _ in 0..<RestartSchedule.mostSuccessions {
      _ = rig(.received(.successorWanted))
      #expect(rig(.exited("exited with code 0")) == [.spawn])
    }
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")).contains { if case .report(.crashed) = $0 { true } else { false } })
    rig.now += RestartSchedule.successionWindow
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")) == [.spawn])
  }

  @Test func goodConductStartsTheCountAnew() {
    var rig = SupervisionRig()
    _ = rig(.start)
    for _ in 0..<3 {
      _ = rig(.received(.heartbeat(within: 0)))
      rig.now += .seconds(30)
      #expect(rig(.exited("exited with code 1")).last == .spawn)
    }
  }

  @Test func aRestartedProcessIsToldWhatIsWanted() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.scan(true))
    #expect(rig(.exited("x")).suffix(2) == [.spawn, .send(.scan(true))])
  }

  @Test func theTagThatEndedTheProcessIsNamedAndAvoided() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.examining(placement)))
    let reason = "killed by signal 11 (Segmentation fault)"
    #expect(
      rig(.exited(reason)) == [
        .report(.crashed(ReaderCrash(reason: reason, suspect: announced, restart: .zero))),
        .report(.state(.failed(reason: "the reader process ended: \(reason)"))),
        .spawn, .send(.avoid(avoided(true))),
      ])
    _ = rig(.received(.forgotten(uid: placement.uid)))
    _ = rig(.exited(reason))
    #expect(rig.advance(.milliseconds(250)) == [.spawn])
  }

  @Test func aRestingTagIsNotAnnouncedAgainByTheNextProcess() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.examining(placement)))
    let report = TagReport(placement: placement, content: .problem(reason: "empty"))
    #expect(
      rig(.received(.tag(report)))
        == [.report(.tag(TagReport(placement: announced, content: .problem(reason: "empty"))))])
    let actions = rig(.exited("x"))
    #expect(actions.first == .report(.removed(placement: announced.number)))
    #expect(actions.last == .send(.avoid(avoided(true))))
    #expect(
      actions.contains(.report(.crashed(ReaderCrash(reason: "x", suspect: nil, restart: .zero)))))
  }

  private func avoided(_ mayHaveChanged: Bool) -> AvoidedTag {
    AvoidedTag(uid: placement.uid, technology: placement.technology, mayHaveChanged: mayHaveChanged)
  }

  /// Which of the tags that rested is meant where it makes up its UID: only for a while.
  @Test(arguments: [false, true]) func aTagThatRestedLongAgoIsKnownByItsUIDAlone(isSuspect: Bool) {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.state(.ready(name: "", device: ""))))
    _ = rig(.received(.examining(placement)))
    let report = TagReport(placement: placement, content: .problem(reason: "empty"))
    if !isSuspect { _ = rig(.received(.tag(report))) }
    #expect(rig(.exited("x")).last == .send(.avoid(avoided(true))))
    // These do not get at the device, and see no tag.
    _ = rig(.exited("x"))
    #expect(rig.advance(.seconds(9)) == [.spawn, .send(.avoid(avoided(true)))])
    _ = rig(.exited("x"))
    #expect(rig.advance(.seconds(9)) == [.spawn, .send(.avoid(avoided(isSuspect)))])
    // This one does, and does not look.
    _ = rig(.received(.state(.ready(name: "", device: ""))))
    _ = rig(.exited("x"))
    #expect(rig.advance(.seconds(9)) == [.spawn, .send(.avoid(avoided(isSuspect)))])
    // This one looks, and goes on leaving it alone.
    _ = rig(.received(.state(.ready(name: "", device: ""))))
    _ = rig(.received(.scanning(true)))
    _ = rig(.exited("x"))
    #expect(rig.advance(.seconds(9)) == [.spawn, .send(.avoid(avoided(true)))])
  }

  @Test func placementsOfTwoProcessesDiffer() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.exited("x"))
    _ = rig(.received(.examining(placement)))
    let report = TagReport(placement: placement, content: .message([0xD0, 0, 0]))
    let expected = Placement(number: 2 << 32 | 1, technology: placement.technology, uid: placement.uid)
    #expect(
      rig(.received(.tag(report)))
        == [.report(.tag(TagReport(placement: expected, content: .message([0xD0, 0, 0]))))])
  }

  @Test func aLiarIsEnded() {
    var unnamed = SupervisionRig()
    _ = unnamed(.start)
    let report = TagReport(placement: placement, content: .problem(reason: "empty"))
    #expect(unnamed(.received(.tag(report))).contains(.kill))

    var huge = SupervisionRig()
    _ = huge(.start)
    #expect(huge(.received(.removed(placement: 1 << 40))).contains(.kill))

    var garbage = SupervisionRig()
    _ = garbage(.start)
    #expect(garbage(.violated("a frame of 0 bytes")).contains(.kill))
    #expect(garbage(.received(.scanning(true))) == [])
    let actions = garbage(.exited("killed by signal 9 (Killed)"))
    let crash = ReaderCrash(reason: "it sent a frame of 0 bytes", suspect: nil, restart: .zero)
    #expect(actions.first == .report(.crashed(crash)))
  }

  @Test func aProcessThatHangsUpEndsOrIsKilled() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig(.hungUp) == [])
    #expect(rig.advance(.milliseconds(500)).contains(.kill))
  }

  @Test func theFieldIsOffWhenTheNextProcessSaysSo() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.scan(true))
    #expect(rig(.received(.scanning(true))) == [.report(.scanning(true))])
    #expect(!rig(.exited("x")).contains(.report(.scanning(false))))
    _ = rig(.received(.state(.failed(reason: "it does not answer"))))
    // Over a second one, too, that does not get at the device; and an order that it cannot carry out is no fault of its own.
    #expect(!rig(.exited("x")).contains(.report(.scanning(false))))
    _ = rig.advance(.milliseconds(250))
    _ = rig(.scan(false))
    _ = rig(.received(.state(.failed(reason: "it does not answer"))))
    _ = rig(.received(.stopped))
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.supervision.deadline == nil)
    #expect(rig(.received(.scanning(false))) == [.report(.scanning(false))])
    #expect(rig(.received(.scanning(false))) == [])
  }
}
