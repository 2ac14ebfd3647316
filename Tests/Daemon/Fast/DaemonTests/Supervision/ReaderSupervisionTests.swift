import Journal
import Names
import Rig
import Testing

import ReaderProtocol

@testable import Daemon

@Suite struct ReaderSupervisionTests {
  let placement = Placement(number: 1, technology: .type4A, uid: [8, 2, 3, 4])
  var announced: Placement { Placement(number: 1 << 32 | 1, technology: placement.technology, uid: placement.uid) }

  private func failed(_ reason: String) -> ReaderPhase { .failed(reason: "the reader process ended: \(reason)") }

  private func isCrash(_ action: ReaderSupervision.Action) -> Bool {
    if case .report(.crashed) = action { true } else { false }
  }

  private func tagged(_ actions: [ReaderSupervision.Action]) -> [TagReport] {
    actions.compactMap { if case .report(.tag(let report, _)) = $0 { report } else { nil } }
  }

  @Test func `a tag is stored as known before it is announced`() throws {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.examining(placement)))
    let report = ReaderMessage.tag(epoch: 1, TagReport(placement: placement, content: .message([])))
    let actions = rig.supervision.handle(.received(report), at: rig.now)
    guard case .report(.known(let known))? = actions.first else { throw RigError("\(actions)") }
    #expect(known.tags.count == 1)
    #expect(tagged(Array(actions.dropFirst())).map(\.placement) == [announced])
  }

  @Test func `a process is started once and killed if it sends no first message`() {
    var rig = SupervisionRig()
    rig(.start, expecting: [.spawn, SupervisionRig.goal(0, .off)])
    rig(.start, expecting: [])
    #expect(rig.remaining == .seconds(5))
    #expect(rig.advance(.seconds(5)).contains(.kill))
  }

  @Test func `a sleeping process has no deadline`() {
    var rig = SupervisionRig.ready()
    #expect(rig.supervision.deadline == nil)
    #expect(rig.advance(.seconds(86400)) == [])
  }

  @Test func `a process that misses its heartbeat is killed`() {
    var rig = SupervisionRig.ready()
    _ = rig(.received(.heartbeat(within: 1000)))
    #expect(rig.advance(.milliseconds(1350)) == [])
    #expect(rig.advance(.milliseconds(50)).contains(.kill))
    #expect(rig.advance(.seconds(60)) == [])
  }

  @Test func `the time that a process may promise is limited`() {
    var rig = SupervisionRig.ready()
    _ = rig(.received(.heartbeat(within: .max)))
    #expect(rig.advance(ReaderTiming.longestPromise + ReaderTiming.grace).contains(.kill))
  }

  @Test func `a process that does not reply to a command is killed`() {
    var rig = SupervisionRig.ready()
    rig(.pursue(1, SupervisionRig.scan), expecting: [SupervisionRig.goal(1, SupervisionRig.scan)])
    #expect(rig.advance(.seconds(1)).contains(.kill))
  }

  @Test func `a process that has to look for its device, or to show its reader, must reply`() {
    for (event, command) in [(.lookForDevice, .lookForDevice), (.identify, .identify)]
      as [(ReaderSupervision.Event, ReaderCommand)]
    {
      var rig = SupervisionRig()
      rig(event, expecting: [])
      rig = SupervisionRig.ready()
      rig(event, expecting: [.send(command)])
      #expect(rig.remaining == .seconds(1))
      _ = rig(.received(.heartbeat(within: 0)))
      #expect(rig.remaining == nil)
    }
  }

  @Test func `a device that appears ends the pause before a restart once`() {
    var rig = SupervisionRig.started()
    _ = rig(.exited("x"))
    #expect(!rig(.exited("x")).contains(.spawn))
    #expect(rig(.lookForDevice).first == .spawn)
    rig(.lookForDevice, expecting: [.send(.lookForDevice)])
    // Only once: a device that appears and disappears with each process would cause endless restarts.
    #expect(!rig(.exited("x")).contains(.spawn))
    rig(.lookForDevice, expecting: [])
    #expect(rig.advance(rig.remaining ?? .zero).first == .spawn)
    _ = rig(.exited("x"))
    #expect(rig(.lookForDevice).first == .spawn)
  }

  @Test func `a command does not shorten the time that a busy process promised`() {
    var rig = SupervisionRig.ready()
    _ = rig(.received(.heartbeat(within: 5000)))
    _ = rig(.pursue(1, SupervisionRig.scan))
    #expect(rig.remaining == .milliseconds(5400))
  }

  @Test func `the first restart is immediate and later ones are delayed`() {
    var rig = SupervisionRig.started()
    #expect(rig(.exited("exited with code 1")).contains(.spawn))
    var pauses: [Duration] = []
    for _ in 0..<8 {
      #expect(!rig(.exited("exited with code 1")).contains(.spawn))
      let pause = rig.remaining ?? .zero
      pauses.append(pause)
      #expect(rig.advance(pause).first == .spawn)
    }
    #expect(pauses == [.milliseconds(250), .milliseconds(500)] + [1, 2, 5, 10, 30, 30].map { .seconds($0) })
  }

  @Test func `a process that makes way for a successor has not failed`() {
    var rig = SupervisionRig.started()
    _ = rig(.pursue(1, SupervisionRig.scan))
    _ = rig(.received(.state(.absent(reason: "away"))))
    for _ in 0..<3 {
      rig(.received(.successorWanted), expecting: [])
      rig(.exited("exited with code 0"), expecting: [.spawn, SupervisionRig.goal(1, SupervisionRig.scan)])
    }
    // The next process exits without such a request.
    #expect(rig(.exited("exited with code 0")).contains(.report(.phase(failed("exited with code 0"), reached: nil))))
  }

  /// Otherwise each process would try the tag again.
  @Test func `a tag that makes the reader fail in three processes is announced and ignored`() {
    var rig = SupervisionRig.scanning()
    for round in 1...3 as ClosedRange<UInt64> {
      _ = rig(.received(.state(.ready(name: "x", device: "x"))))
      _ = rig(.received(.examining(placement)))
      _ = rig(.received(.removed(placement: placement.number)))
      let actions = rig(.received(.state(.failed(reason: "gone"))))
      let contents = tagged(actions).map(\.content)
      let problem = "the reader failed at each attempt to read the tag: gone"
      #expect(contents == (round < 3 ? [] : [.problem(reason: problem)]))
      func suspect(_ number: UInt64) -> [KnownTag] {
        [SupervisionRig.known(placement, number: number, mayHaveChanged: true, isSuspect: true)]
      }
      #expect(actions.contains(SupervisionRig.goal(1, SupervisionRig.scan, suspect(1))) == (round == 3))
      _ = rig(.received(.successorWanted))
      let next = SupervisionRig.goal(1, SupervisionRig.scan, suspect(round << 32 | 1))
      #expect(rig(.exited("exited with code 0")).contains(next) == (round == 3))
    }
  }

  @Test func `a read in between resets the failures of a tag`() {
    var rig = SupervisionRig.scanning()
    for number in UInt64(1)...6 {
      let placement = Placement(number: number, technology: placement.technology, uid: placement.uid)
      _ = rig(.received(.state(.ready(name: "x", device: "x"))))
      _ = rig(.received(.examining(placement)))
      if number == 3 {
        _ = rig(.received(.tag(epoch: 1, TagReport(placement: placement, content: .problem(reason: "x")))))
      } else {
        _ = rig(.received(.removed(placement: number)))
      }
      let actions = rig(.received(.state(.failed(reason: "gone"))))
      #expect(tagged(actions).isEmpty == (number != 6))
    }
  }

  @Test func `a process that asks for a successor and does not exit is killed`() {
    var rig = SupervisionRig.started()
    _ = rig(.received(.successorWanted))
    #expect(rig.advance(ReaderSupervision.hangUpAllowance).first == .kill)
  }

  @Test func `too many successions are a failure`() {
    var rig = SupervisionRig.started()
    for _ in 0..<RestartSchedule.mostSuccessions {
      _ = rig(.received(.successorWanted))
      #expect(!rig(.exited("exited with code 0")).contains(where: isCrash))
    }
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")).contains(where: isCrash))
    rig.now += RestartSchedule.successionWindow
    _ = rig(.received(.successorWanted))
    #expect(!rig(.exited("exited with code 0")).contains(where: isCrash))
  }

  @Test func `a process that lives long resets the restart count`() {
    var rig = SupervisionRig.started()
    for _ in 0..<3 {
      _ = rig(.received(.heartbeat(within: 0)))
      rig.now += .seconds(30)
      #expect(rig(.exited("exited with code 1")).contains(.spawn))
    }
  }

  @Test func `the tag that crashed a process is reported and not read again`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.examining(placement)))
    let reason = "killed by signal 11 (Segmentation fault)"
    let suspect = SupervisionRig.known(placement, number: announced.number, mayHaveChanged: true, isSuspect: true)
    rig(
      .exited(reason),
      expecting: [
        .report(.phase(failed(reason), reached: nil)),
        .report(.crashed(ReaderCrash(reason: reason, suspect: announced, restart: .zero))), .spawn,
        SupervisionRig.goal(1, SupervisionRig.scan, [suspect]),
      ])
    #expect(rig.reported.tags == [suspect])
    rig(.received(.removed(placement: suspect.number)), expecting: [.report(.removed(placement: suspect.number))])
    #expect(rig.reported.tags == [])
    _ = rig(.exited(reason))
    #expect(rig.advance(.milliseconds(250)) == [.spawn, SupervisionRig.goal(1, SupervisionRig.scan)])
  }

  @Test func `a resting tag is not announced again by the next process`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.examining(placement)))
    let report = TagReport(placement: placement, content: .problem(reason: "empty"))
    let expected = TagReport(placement: announced, content: .problem(reason: "empty"))
    rig(.received(.tag(epoch: 1, report)), expecting: [.report(.tag(expected, epoch: 1))])
    let known = SupervisionRig.known(placement, number: announced.number, mayHaveChanged: true)
    #expect(rig.reported.tags == [known])
    let actions = rig(.exited("x"))
    #expect(actions.last == SupervisionRig.goal(1, SupervisionRig.scan, [known]))
    #expect(actions.contains(.report(.crashed(ReaderCrash(reason: "x", suspect: nil, restart: .zero)))))
  }

  /// The daemon keeps the list across its own restart.
  @Test func `the known tags of an earlier supervision are known to the next`() {
    var first = SupervisionRig.scanning()
    _ = first(.received(.examining(placement)))
    _ = first(.received(.tag(epoch: 1, TagReport(placement: placement, content: .problem(reason: "empty")))))
    var rig = SupervisionRig(
      supervision: ReaderSupervision(ReaderTiming(device: "pn532_uart:/dev/x"), known: first.reported))
    let known = SupervisionRig.known(placement, number: .max, mayHaveChanged: true)
    rig(.start, expecting: [.spawn, SupervisionRig.goal(0, .off, [known])])
    rig(.received(.removed(placement: .max)), expecting: [.report(.removed(placement: .max))])
    #expect(rig.reported.tags == [])
  }

  /// Later, a tag of the same technology may be another one. A suspect stays recognized.
  @Test(arguments: [false, true])
  func `a tag with a random UID is recognized by its technology only for a while`(isSuspect: Bool) {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.examining(placement)))
    let report = TagReport(placement: placement, content: .problem(reason: "empty"))
    if !isSuspect { _ = rig(.received(.tag(epoch: 1, report))) }
    func goal(_ mayHaveChanged: Bool) -> ReaderSupervision.Action {
      SupervisionRig.goal(
        1, SupervisionRig.scan,
        [
          SupervisionRig.known(
            placement, number: announced.number, mayHaveChanged: mayHaveChanged, isSuspect: isSuspect)
        ])
    }
    #expect(rig(.exited("x")).last == goal(true))
    // These processes do not open the device, and see no tag.
    _ = rig(.exited("x"))
    #expect(rig.advance(.seconds(9)) == [.spawn, goal(true)])
    _ = rig(.exited("x"))
    #expect(rig.advance(.seconds(9)) == [.spawn, goal(isSuspect)])
    // This process opens the device, and still ignores the tag.
    _ = rig(.received(.state(.ready(name: "", device: ""))))
    _ = rig(.exited("x"))
    #expect(rig.advance(.seconds(9)) == [.spawn, goal(true)])
  }

  @Test func `placements of different processes have different numbers`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.exited("x"))
    _ = rig(.received(.examining(placement)))
    let report = TagReport(placement: placement, content: .message([0xD0, 0, 0]))
    let expected = Placement(number: 2 << 32 | 1, technology: placement.technology, uid: placement.uid)
    #expect(tagged(rig(.received(.tag(epoch: 1, report)))).map(\.placement) == [expected])
  }

  @Test func `a process that sends an impossible message is killed`() {
    let report = TagReport(placement: placement, content: .problem(reason: "empty"))
    let lies: [[ReaderMessage]] = [
      [.tag(epoch: 1, report)], [.removed(placement: 1 << 40)], [.examining(placement), .tag(epoch: 2, report)],
      [.reached(epoch: 2)], [.known(Placement(number: 1 << 32, technology: .type2, uid: []))],
      (1...9).map { .known(Placement(number: $0, technology: .type2, uid: [UInt8($0)])) },
    ]
    for messages in lies {
      var rig = SupervisionRig.scanning()
      for message in messages.dropLast() { #expect(!rig(.received(message)).contains(.kill)) }
      #expect(messages.last.map { rig(.received($0)).contains(.kill) } == true, "\(messages)")
    }
    var garbage = SupervisionRig.started()
    #expect(garbage(.violated("a frame of 0 bytes")).contains(.kill))
    #expect(garbage(.received(.reached(epoch: 0))) == [])
    let actions = garbage(.exited("killed by signal 9 (Killed)"))
    let crash = ReaderCrash(reason: "it sent a frame of 0 bytes", suspect: nil, restart: .zero)
    #expect(actions.first == .report(.crashed(crash)))
  }

  @Test func `a process that closes its link and does not exit is killed`() {
    var rig = SupervisionRig.ready()
    rig(.hungUp, expecting: [])
    #expect(rig.advance(.milliseconds(500)).contains(.kill))
  }
}
