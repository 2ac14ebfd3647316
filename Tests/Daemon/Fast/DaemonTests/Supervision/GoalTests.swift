import Names
import ReaderProtocol
import Rig
import Testing

@testable import Daemon

/// How the goals of a reader are sent, reached and enforced.
@Suite struct GoalTests {
  private let scan = SupervisionRig.scan
  private let breakingOff = ReaderTiming(device: "pn532_uart:/dev/x").breakingOff
  private let placement = Placement(number: 1, technology: .type2, uid: [4, 2, 3, 4, 5, 6, 7])

  private func sent(_ actions: [ReaderSupervision.Action]) -> [UInt64] {
    actions.compactMap { if case .send(.goal(let epoch, _, _)) = $0 { epoch } else { nil } }
  }

  @Test func `scanning restarts only after the process has reached the stop`() {
    var rig = SupervisionRig.scanning()
    rig(.pursue(2, .off), expecting: [SupervisionRig.goal(2, .off)])
    // The goal changes many times in between, but the process gets only one goal at a time.
    var epoch: UInt64 = 2
    for _ in 1...300 {
      for goal in [scan, .off, scan] {
        epoch += 1
        rig(.pursue(epoch, goal), expecting: [])
      }
    }
    rig(
      .received(.reached(epoch: 2)),
      expecting: [.report(.phase(SupervisionRig.open, reached: 2)), SupervisionRig.goal(epoch, scan)])
    rig(.received(.reached(epoch: epoch)), expecting: [.report(.phase(.scanning, reached: epoch))])
    // A repeated message is not reported.
    rig(.received(.reached(epoch: epoch)), expecting: [])
  }

  @Test func `a scan with other polling settings replaces the current scan at once`() {
    var rig = SupervisionRig.scanning()
    let other = ReaderGoal.scan(ReaderPolling(technologies: [.type2]))
    rig(.pursue(2, other), expecting: [SupervisionRig.goal(2, other)])
    rig(.received(.reached(epoch: 2)), expecting: [.report(.phase(.scanning, reached: 2))])
  }

  @Test func `a tag report carries the epoch of the goal that it was found for`() throws {
    var rig = SupervisionRig.scanning()
    _ = rig(.pursue(2, .off))
    _ = rig(.received(.examining(placement)))
    let actions = rig(.received(.tag(epoch: 1, TagReport(placement: placement, content: .message([0xD0, 0, 0])))))
    guard case .report(.tag(_, epoch: 1))? = actions.first else { throw RigError("\(actions)") }
    // The daemon drops the report, and the tag is known.
    _ = rig(.pursue(3, scan))
    let known = SupervisionRig.known(placement, number: 1)
    #expect(rig(.received(.reached(epoch: 2))).last == SupervisionRig.goal(3, scan, [known]))
  }

  @Test func `a tag that was not read before the stop becomes a known tag`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.pursue(2, .off))
    rig(.received(.known(placement)), expecting: [])
    _ = rig(.received(.reached(epoch: 2)))
    rig(.pursue(3, scan), expecting: [SupervisionRig.goal(3, scan, [SupervisionRig.known(placement, number: 1)])])
  }

  @Test(arguments: [ReaderGoal.off, .lent, SupervisionRig.scan, .session(TagSessionOptions(number: 1))])
  func `a process that sends heartbeats but does not reach its goal is killed`(goal: ReaderGoal) {
    var rig = goal == SupervisionRig.scan ? SupervisionRig.ready() : SupervisionRig.scanning()
    _ = rig(.pursue(2, goal))
    let end = rig.now + breakingOff
    while rig.now + .seconds(1) < end {
      _ = rig(.received(.heartbeat(within: 1000)))
      #expect(rig.advance(.seconds(1)) == [])
    }
    _ = rig(.received(.heartbeat(within: 0)))
    let actions = rig.advance(rig.now.duration(to: end))
    #expect(actions.first == .kill)
    let crash = rig(.exited("killed by signal 9 (Killed)")).compactMap { action -> String? in
      if case .report(.crashed(let crash)) = action { crash.reason } else { nil }
    }
    #expect(crash.first?.hasPrefix("it was told to ") == true)
    #expect(rig.remaining == ReaderTiming.start)
  }

  @Test func `a process has to start a scan only once its device is open`() {
    var rig = SupervisionRig.started()
    _ = rig(.received(.reached(epoch: 0)))
    _ = rig(.pursue(1, scan))
    _ = rig(.received(.state(.absent(reason: "x"))))
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.advance(.seconds(60)) == [])
    // The supervision does not believe `reached` before the device is open.
    rig(.received(.reached(epoch: 1)), expecting: [])
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    #expect(rig.remaining == breakingOff)
    rig(.received(.reached(epoch: 1)), expecting: [.report(.phase(.scanning, reached: 1))])
    // After the device has failed and was opened again, the process must start the scan again.
    let failed = ReaderPhase.failed(reason: "it does not answer")
    rig(.received(.state(.failed(reason: "it does not answer"))), expecting: [.report(.phase(failed, reached: nil))])
    #expect(rig.supervision.deadline == nil)
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    #expect(rig.remaining == breakingOff)
  }

  @Test func `a process without a device reaches the goal off`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.state(.failed(reason: "x"))))
    _ = rig(.pursue(2, .off))
    rig(.received(.reached(epoch: 2)), expecting: [.report(.phase(.failed(reason: "x"), reached: 2))])
    rig(
      .received(.state(.ready(name: "x", device: "y"))), expecting: [.report(.phase(SupervisionRig.open, reached: 2))])
  }

  @Test func `without a process the goal off is reached at once`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.violated("garbage"))
    let reason = "the reader process ended: it sent garbage"
    rig(.pursue(2, .off), expecting: [.report(.phase(.failed(reason: reason), reached: 2))])
  }

  @Test func `a process that reports too many state changes is killed`() {
    var rig = SupervisionRig.ready()
    func change(_ number: Int) -> [ReaderSupervision.Action] {
      rig(.received(.state(.failed(reason: "\(number)"))))
    }
    rig.now += ReaderSupervision.changeWindow
    for number in 1...ReaderSupervision.mostChanges { #expect(change(number).count == 1) }
    rig.now += ReaderSupervision.changeWindow
    for number in 1...ReaderSupervision.mostChanges { #expect(change(number).count == 1) }
    #expect(change(0).contains(.kill))
  }

  @Test func `the number of goals that a process may reach is not limited`() {
    var rig = SupervisionRig.ready()
    for epoch in 1...3 * UInt64(ReaderSupervision.mostChanges) {
      let goal = epoch.isMultiple(of: 2) ? ReaderGoal.off : scan
      #expect(sent(rig(.pursue(epoch, goal))) == [epoch])
      #expect(rig(.received(.reached(epoch: epoch))).count == 1)
    }
  }

  // MARK: Unknown tags on the reader

  /// The process may have seen tags that it did not announce, and the next user may be another one.
  @Test(arguments: [false, true])
  func `the first tags are known if a process dies before it reaches a stop`(isKilled: Bool) {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.examining(placement)))
    // The tag is not a suspect.
    _ = rig(.received(.removed(placement: 1)))
    _ = rig(.pursue(2, .off))
    _ = rig(.received(.state(.failed(reason: "it does not answer"))))
    if isKilled { _ = rig(.violated("garbage")) }
    _ = rig(.pursue(3, scan))
    #expect(rig(.exited("killed by signal 9 (Killed)")).last == SupervisionRig.goal(3, scan, first: true))
    // A process that crashes before it scans passes this on to the next one.
    _ = rig(.exited("killed by signal 9 (Killed)"))
    #expect(rig.advance(.milliseconds(250)).last == SupervisionRig.goal(3, scan, first: true))
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    _ = rig(.received(.reached(epoch: 3)))
    _ = rig(.exited("x"))
    #expect(rig.advance(.milliseconds(500)) == [.spawn, SupervisionRig.goal(3, scan)])
  }

  @Test(arguments: [false, true])
  func `the first tags are known if scanning stops while there is no process`(isWaiting: Bool) {
    var rig = SupervisionRig.scanning()
    if isWaiting {
      _ = rig(.exited("x"))
      _ = rig(.exited("x"))
    } else {
      _ = rig(.violated("garbage"))
    }
    _ = rig(.pursue(2, .off))
    _ = rig(.pursue(3, scan))
    let actions = isWaiting ? rig.advance(.milliseconds(250)) : rig(.exited("x"))
    #expect(actions.last == SupervisionRig.goal(3, scan, first: true))
  }

  @Test func `a process that starts during a scan announces the tags that lie there`() {
    var rig = SupervisionRig.scanning()
    #expect(rig(.exited("x")).last == SupervisionRig.goal(1, scan))
    var new = SupervisionRig()
    _ = new(.pursue(1, .off))
    _ = new(.pursue(2, scan))
    #expect(new(.start) == [.spawn, SupervisionRig.goal(2, scan)])
  }

  // MARK: Loans

  @Test func `a loan closes the device and its end opens it again`() {
    var rig = SupervisionRig.scanning()
    rig(.pursue(2, .lent), expecting: [SupervisionRig.goal(2, .lent, first: true)])
    rig(.received(.reached(epoch: 2)), expecting: [.report(.phase(.released, reached: 2))])
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.supervision.deadline == nil)
    // The tags that lie there are for the other program.
    rig(.pursue(3, scan), expecting: [SupervisionRig.goal(3, scan, first: true)])
    rig(
      .received(.state(.ready(name: "x", device: "y"))), expecting: [.report(.phase(SupervisionRig.open, reached: nil))]
    )
  }

  @Test func `a process that does not close its device for a loan is killed`() {
    var rig = SupervisionRig.ready()
    _ = rig(.pursue(1, .lent))
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.advance(breakingOff).contains(.kill))
    let actions = rig(.exited("killed by signal 9 (Killed)"))
    #expect(actions.contains(.report(.phase(.released, reached: 1))))
    // The next process gets the goal before it opens a device.
    #expect(actions.suffix(2) == [.spawn, SupervisionRig.goal(1, .lent, first: true)])
    rig(.received(.reached(epoch: 1)), expecting: [])
  }

  @Test func `without a process a loan starts at once`() {
    var rig = SupervisionRig.ready()
    _ = rig(.exited("x"))
    _ = rig(.exited("x"))
    rig(.pursue(1, .lent), expecting: [.report(.phase(.released, reached: 1))])
    let opening = ReaderPhase.failed(reason: "the reader is being opened")
    rig(.pursue(2, .off), expecting: [.report(.phase(opening, reached: 2))])
    #expect(rig.advance(.milliseconds(250)) == [.spawn, SupervisionRig.goal(2, .off, first: true)])
  }
}

@Suite struct WaitingTests {
  private static func waits(_ reason: String) -> ReaderSupervision.Action { .report(.waiting(reason: reason)) }

  @Test func `a wait is reported when it begins, when its reason changes and when it ends`() {
    var rig = SupervisionRig.scanning()
    rig(.received(.waiting(reason: "gpg has the card")), expecting: [Self.waits("gpg has the card")])
    rig(.received(.waiting(reason: "gpg has the card")), expecting: [])
    rig(.received(.waiting(reason: "firefox has the card")), expecting: [Self.waits("firefox has the card")])
    rig(.received(.waiting(reason: "")), expecting: [Self.waits("")])
    rig(.received(.waiting(reason: "")), expecting: [])
    #expect(rig.supervision.phase == .scanning)
  }

  @Test func `a wait survives a new goal and ends with the state of the device`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.waiting(reason: "x")))
    _ = rig(.pursue(2, .off))
    rig(.received(.reached(epoch: 2)), expecting: [.report(.phase(SupervisionRig.open, reached: 2))])
    rig(.received(.waiting(reason: "x")), expecting: [])
    rig(
      .received(.state(.absent(reason: "unplugged"))),
      expecting: [Self.waits(""), .report(.phase(.absent(reason: "unplugged"), reached: 2))])
    // A reader without a device does not wait.
    rig(.received(.waiting(reason: "x")), expecting: [])
  }

  @Test func `the next process waits anew`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.waiting(reason: "x")))
    _ = rig(.exited("killed"))
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    rig(.received(.waiting(reason: "x")), expecting: [Self.waits("x")])
  }

  @Test func `a loan ends a wait`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.waiting(reason: "x")))
    _ = rig(.pursue(2, .lent))
    _ = rig(.received(.reached(epoch: 2)))
    rig(.received(.waiting(reason: "y")), expecting: [])
    _ = rig(.pursue(3, .off))
    _ = rig(.received(.state(.ready(name: "x", device: "z"))))
    rig(.received(.waiting(reason: "x")), expecting: [Self.waits("x")])
  }

  @Test func `a process that changes its reason without end is killed`() {
    var rig = SupervisionRig.scanning()
    let changes = (0...ReaderSupervision.mostChanges).flatMap { rig(.received(.waiting(reason: "\($0)"))) }
    #expect(changes.contains(.kill))
    #expect(changes.filter { if case .report(.waiting) = $0 { true } else { false } }.count < 202)
  }
}
