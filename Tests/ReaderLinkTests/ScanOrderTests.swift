import Testing

@testable import ReaderLink

/// What becomes of an order to look for tags, or for none.
@Suite struct ScanOrderTests {
  @Test func eachOrderToStopIsAnsweredBeforeTheNextOrder() {
    var rig = SupervisionRig()
    _ = rig(.start)
    for on in [true, false] { #expect(rig(.scan(on)) == [.send(.scan(on))]) }
    // However often it is taken back meanwhile, there is one answer, and nobody is flooded with more.
    for _ in 1...300 { for on in [true, false, true] { #expect(rig(.scan(on)) == []) } }
    #expect(rig(.received(.stopped)) == [.report(.stopped), .send(.scan(true))])
    #expect(rig(.scan(false)) == [.send(.scan(false))])
    for on in [true, false] { #expect(rig(.scan(on)) == []) }
    #expect(rig(.received(.stopped)) == [.report(.stopped)])
    #expect(rig(.received(.stopped)).contains(.kill))
  }

  /// The time for an order counts from when it is given.
  @Test func anOrderThatWaitsForAnAnswerIsNotHeldAgainstTheProcess() {
    var rig = SupervisionRig()
    let time = ReaderTiming(device: "pn532_uart:/dev/x").obedience
    _ = rig(.start)
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    _ = rig(.scan(true))
    _ = rig(.received(.scanning(true)))
    _ = rig(.scan(false))
    _ = rig(.scan(true))
    #expect(rig(.received(.scanning(false))) == [.report(.scanning(false))])
    _ = rig(.received(.heartbeat(within: 20_000)))
    #expect(rig.advance(time) == [])
    #expect(rig(.received(.stopped)) == [.report(.stopped), .send(.scan(true))])
    #expect(rig.advance(time - .milliseconds(1)) == [])
    #expect(rig.advance(.milliseconds(1)).contains(.kill))
  }

  @Test func aProcessThatHasEndedHasStopped() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.scan(true))
    _ = rig(.scan(false))
    _ = rig(.scan(true))
    #expect(rig(.violated("garbage")).filter { $0 == .report(.stopped) }.count == 1)
    _ = rig(.scan(false))
    _ = rig(.scan(true))
    #expect(rig(.scan(false)) == [.report(.stopped)])
    #expect(!rig(.exited("killed")).contains(.report(.stopped)))
  }

  @Test func aProcessThatBeatsAndGoesOnScanningIsKilled() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.scan(true))
    _ = rig(.received(.scanning(true)))
    _ = rig(.scan(false))
    for _ in 1...6 {
      _ = rig(.received(.heartbeat(within: 1000)))
      _ = rig(.received(.scanning(true)))
      #expect(rig.advance(.milliseconds(500)) == [])
    }
    _ = rig(.received(.heartbeat(within: 1000)))
    #expect(rig.advance(.milliseconds(400)).contains(.kill))
    let reason = "it was told to look for no tags and went on"
    let crash = ReaderCrash(reason: reason, suspect: nil, restart: .zero)
    #expect(rig(.exited("killed by signal 9 (Killed)")).contains(.report(.crashed(crash))))
  }

  @Test func sleepingIsNoAnswer() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.scan(true))
    _ = rig(.received(.scanning(true)))
    _ = rig(.scan(false))
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.remaining == ReaderTiming(device: "pn532_uart:/dev/x").obedience)
    _ = rig(.received(.scanning(false)))
    _ = rig(.received(.stopped))
    #expect(rig.supervision.deadline == nil)
  }

  /// Neither is a sign of life, nor that the field is off.
  @Test(arguments: [0, 1000] as [UInt32]) func aProcessThatNeverSaysThatItHasStoppedIsKilled(beat: UInt32) {
    var rig = SupervisionRig()
    let time = ReaderTiming(device: "pn532_uart:/dev/x").breakingOff
    _ = rig(.start)
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    _ = rig(.scan(true))
    _ = rig(.received(.scanning(true)))
    _ = rig(.scan(false))
    _ = rig(.received(.scanning(false)))
    let end = rig.now + time
    while rig.now < end {
      _ = rig(.received(.heartbeat(within: beat)))
      // Taken back and given anew it is the same order still.
      _ = rig(.scan(true))
      _ = rig(.scan(false))
      #expect(rig.advance(min(.seconds(1), rig.now.duration(to: end) - .nanoseconds(1))) == [])
      rig.now += .nanoseconds(1)
    }
    let actions = rig(.tick)
    #expect(actions.contains(.kill))
    #expect(actions.last == .report(.stopped))
    let reason = "it was told to look for no tags and did not say that it has stopped"
    #expect(actions.contains(.report(.state(.failed(reason: "the reader process ended: \(reason)")))))
    let crash = ReaderCrash(reason: reason, suspect: nil, restart: .zero)
    let exit = rig(.exited("killed by signal 9 (Killed)"))
    #expect(exit.contains(.report(.crashed(crash))))
    #expect(exit.suffix(2) == [.spawn, .send(.lend(false))])
    #expect(rig.remaining == ReaderTiming.start)
  }

  @Test func aReaderThatIsReadyHasToBeginScanning() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.scan(true))
    _ = rig(.received(.state(.absent(reason: "x"))))
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.advance(.seconds(60)) == [])
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    #expect(rig.advance(ReaderTiming(device: "pn532_uart:/dev/x").obedience).contains(.kill))
  }

  @Test func aProcessThatChangesItsStateWithoutEndIsEnded() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.heartbeat(within: 0)))
    func change(_ number: Int) -> [ReaderSupervision.Action] {
      rig(.received(.state(.failed(reason: "\(number)"))))
    }
    for number in 1...ReaderSupervision.mostChanges { #expect(change(number).count == 1) }
    rig.now += ReaderSupervision.changeWindow
    for number in 1...ReaderSupervision.mostChanges { #expect(change(number).count == 1) }
    #expect(change(0).contains(.kill))
  }

  @Test func whoDoesAsItIsToldMayDoSoEver() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.heartbeat(within: 0)))
    for number in 1...3 * ReaderSupervision.mostChanges {
      let isOn = !number.isMultiple(of: 2)
      #expect(rig(.scan(isOn)) == [.send(.scan(isOn))])
      #expect(rig(.received(.scanning(isOn))) == [.report(.scanning(isOn))])
      if !isOn { #expect(rig(.received(.stopped)) == [.report(.stopped)]) }
    }
  }

  /// What it saw and did not announce nobody knows any more: it may be another user who is at the machine next.
  @Test(arguments: [false, true]) func whatLiesThereIsNobodysWhereAProcessDiesBeforeItHasStopped(isKilled: Bool) {
    var rig = scanning()
    let placement = Placement(number: 1, technology: "type-2", uid: [4, 2, 3, 4, 5, 6, 7])
    _ = rig(.received(.examining(placement)))
    // It is no suspect.
    _ = rig(.received(.removed(placement: 1)))
    _ = rig(.scan(false))
    _ = rig(.received(.state(.failed(reason: "it does not answer"))))
    if isKilled { #expect(rig(.violated("garbage")).last == .report(.stopped)) }
    _ = rig(.scan(true))
    let actions = rig(.exited("killed by signal 9 (Killed)"))
    #expect(actions.contains(.report(.stopped)) != isKilled)
    #expect(actions.suffix(3) == quietly)
    // One that wedges as it opens the device tells the next one.
    _ = rig(.received(.lent(false)))
    _ = rig(.exited("killed by signal 9 (Killed)"))
    #expect(rig.advance(.milliseconds(250)).suffix(3) == quietly)
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    _ = rig(.received(.scanning(true)))
    _ = rig(.exited("x"))
    #expect(rig.advance(.milliseconds(500)) == [.spawn, .send(.scan(true))])
  }

  @Test(arguments: [false, true]) func whatLiesThereIsNobodysWhereTheUserLeavesWhileThereIsNoProcess(isWaiting: Bool) {
    var rig = scanning()
    if isWaiting {
      _ = rig(.exited("x"))
      _ = rig(.exited("x"))
    } else {
      _ = rig(.violated("garbage"))
    }
    #expect(rig(.scan(false)) == [.report(.stopped)])
    #expect(rig(.scan(true)) == [])
    let actions = isWaiting ? rig.advance(.milliseconds(250)) : rig(.exited("x"))
    #expect(actions.suffix(3) == quietly)
  }

  /// It may have begun before it has read the order.
  @Test func whoBeginsBeforeItHasReadTheOrderToStopMayDoSoEver() {
    var rig = ready()
    for _ in 1...2 * ReaderSupervision.mostChanges {
      _ = rig(.scan(true))
      _ = rig(.scan(false))
      for on in [true, false] { #expect(rig(.received(.scanning(on))) == [.report(.scanning(on))]) }
      #expect(rig(.received(.stopped)) == [.report(.stopped)])
    }
  }

  @Test func whoHoldsBackThatItHasStoppedMayNotChangeWithoutEnd() {
    var rig = scanning()
    _ = rig(.scan(false))
    var signals = 0
    for number in 1...4 * ReaderSupervision.mostChanges {
      let actions = rig(.received(.scanning(number.isMultiple(of: 2))))
      if actions.contains(.kill) { break }
      signals += actions.count
    }
    // There and back each, and once in which it may not have read the order yet.
    #expect(signals <= 2 * (ReaderSupervision.mostChanges + 1) + 1)
  }

  /// What a process is told that takes what it finds at first for announced.
  private let quietly: ArraySlice<ReaderSupervision.Action> = [.spawn, .send(.lend(false)), .send(.scan(true))]

  /// A process that sleeps with its device open.
  private func ready() -> SupervisionRig {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.heartbeat(within: 0)))
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    return rig
  }

  /// A process that looks for tags, as it was told.
  private func scanning() -> SupervisionRig {
    var rig = ready()
    _ = rig(.scan(true))
    _ = rig(.received(.scanning(true)))
    return rig
  }
}
