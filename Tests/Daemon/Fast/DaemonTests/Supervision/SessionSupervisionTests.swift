import Names
import Testing

import ReaderProtocol

@testable import Daemon

/// The supervision of reader sessions, without a process or a clock.
@Suite struct SessionSupervisionTests {
  static let options = TagSessionOptions(number: 5, technologies: [.type2])
  static let goal = ReaderGoal.session(options)
  static let placement = Placement(number: 1, technology: .type2, uid: [4, 2, 3, 4, 5, 6, 7])
  static var announced: Placement {
    Placement(number: 1 << 32 | 1, technology: placement.technology, uid: placement.uid)
  }
  static let tag = SessionTag(placement: placement, atqa: [0, 0x44], sak: 0)
  static var read: ReaderSupervision.Event {
    .perform(session: 5, request: 9, placement: announced.number, .read)
  }
  let breakingOff = ReaderTiming(device: "pn532_uart:/dev/x").breakingOff

  /// A process in a session with a tag, for epoch 1.
  func inSession() -> SupervisionRig {
    var rig = SupervisionRig.ready()
    rig(.pursue(1, Self.goal), expecting: [SupervisionRig.goal(1, Self.goal, first: true)])
    rig(.received(.reached(epoch: 1)), expecting: [.report(.phase(.inSession(5), reached: 1))])
    _ = rig(.received(.heartbeat(within: 0)))
    let reported = rig(.received(.sessionTag(epoch: 1, Self.tag)))
    #expect(reported == [.report(.sessionTag(5, Self.tag.at(Self.announced)))])
    return rig
  }

  @Test func `a session starts, reports and ends`() {
    var rig = inSession()
    #expect(rig.supervision.deadline == nil)
    rig(.received(.sessionRoundEnded(epoch: 1)), expecting: [.report(.sessionRoundEnded(5))])
    rig(Self.read, expecting: [.send(.perform(epoch: 1, request: 9, placement: 1, .read))])
    rig(.received(.progress(request: 9, bytes: 10)), expecting: [.report(.progress(request: 9, bytes: 10))])
    let message = ReaderMessage.performed(request: 9, .message([0xD0, 0, 0]))
    rig(.received(message), expecting: [.report(.performed(request: 9, .message([0xD0, 0, 0])))])
    rig(.restartPolling(Self.options), expecting: [.send(.restartPolling(epoch: 1, Self.options))])
    // The session of these options is not the one that has the reader.
    rig(.restartPolling(TagSessionOptions(number: 4)), expecting: [])
    let removed = rig(.received(.sessionTagRemoved(epoch: 1, placement: 1)))
    #expect(removed == [.report(.sessionTagRemoved(5, placement: Self.announced.number))])
    rig(.received(.sessionPollingRestarted(epoch: 1)), expecting: [.report(.sessionPollingRestarted(5))])
    rig(.pursue(2, .off), expecting: [SupervisionRig.goal(2, .off, first: true)])
    rig(.received(.reached(epoch: 2)), expecting: [.report(.phase(SupervisionRig.open, reached: 2))])
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.supervision.deadline == nil)
    #expect(rig(.pursue(3, .session(TagSessionOptions(number: 6)))).count == 1)
  }

  @Test func `each report of a polling restart needs an order for this session`() {
    var rig = inSession()
    let restarted = ReaderSupervision.Event.received(.sessionPollingRestarted(epoch: 1))
    // An order may cross the report of the previous one.
    for _ in 0..<2 { _ = rig(.restartPolling(Self.options)) }
    for _ in 0..<2 { rig(restarted, expecting: [.report(.sessionPollingRestarted(5))]) }
    // The process has combined two orders into one restart.
    for _ in 0..<2 { _ = rig(.restartPolling(Self.options)) }
    rig(restarted, expecting: [.report(.sessionPollingRestarted(5))])
    // The unreported order ends with its session.
    _ = rig(.pursue(2, .off))
    rig(restarted, expecting: [])
    _ = rig(.received(.reached(epoch: 2)))
    _ = rig(.pursue(3, Self.goal))
    _ = rig(.received(.reached(epoch: 3)))
    #expect(rig(.received(.sessionPollingRestarted(epoch: 3))).first == .kill)
  }

  @Test func `a restart of polling ends the round without a report`() {
    var rig = inSession()
    _ = rig(.restartPolling(Self.options))
    _ = rig(.received(.sessionTagRemoved(epoch: 1, placement: 1)))
    _ = rig(.received(.sessionPollingRestarted(epoch: 1)))
    #expect(rig(.received(.sessionRoundEnded(epoch: 1))).first == .kill)
  }

  /// A client may restart polling after each tag.
  @Test func `a restart of polling resets the limit of tags`() {
    var rig = inSession()
    var last: UInt64 = 1
    for _ in 0...SessionLedger.mostTags {
      _ = rig(.restartPolling(Self.options))
      #expect(!rig(.received(.sessionTagRemoved(epoch: 1, placement: last))).contains(.kill))
      last += 1
      let placement = Placement(number: last, technology: .type2, uid: [4, 2, 3, 4, 5, 6, 7])
      #expect(!rig(.received(.sessionTag(epoch: 1, SessionTag(placement: placement)))).contains(.kill))
    }
    // As many tags without a restart of polling are too many.
    var actions: [ReaderSupervision.Action] = []
    for _ in 0...SessionLedger.mostTags where !actions.contains(.kill) {
      actions = rig(.received(.sessionTagRemoved(epoch: 1, placement: last)))
      last += 1
      let placement = Placement(number: last, technology: .type2, uid: [4, 2, 3, 4, 5, 6, 7])
      actions += rig(.received(.sessionTag(epoch: 1, SessionTag(placement: placement))))
    }
    #expect(actions.contains(.kill))
  }

  @Test func `each operation has its own time limit`() {
    var operation = inSession()
    _ = operation(Self.read)
    _ = operation(.received(.heartbeat(within: 0)))
    #expect(operation.remaining == ReaderTiming.operation + breakingOff)
    _ = operation(.perform(session: 5, request: 10, placement: Self.announced.number, .query))
    _ = operation(.received(.heartbeat(within: 0)))
    operation.now += .seconds(20)
    // The next operation gets the full time.
    _ = operation(.received(.performed(request: 9, .failed(.empty, reason: "x"))))
    #expect(operation.remaining == ReaderTiming.operation + breakingOff)
    #expect(operation.advance(ReaderTiming.operation + breakingOff).contains(.kill))
  }

  @Test func `the end of the process ends the session`() {
    var rig = inSession()
    _ = rig(Self.read)
    let lost = "the reader process ended: killed by signal 9 (Killed)"
    let actions = rig(.exited("killed by signal 9 (Killed)"))
    #expect(actions.first == .report(.performed(request: 9, .failed(.deviceLost, reason: lost))))
    #expect(actions.contains(.report(.phase(.failed(reason: lost), reached: 1))))
    // The tag of the running operation is the suspect. The next process does not continue the session, and announces no
    // tag that lies there.
    let crash = ReaderCrash(reason: "killed by signal 9 (Killed)", suspect: Self.announced, restart: .zero)
    #expect(actions.contains(.report(.crashed(crash))))
    let suspect = SupervisionRig.known(Self.placement, number: Self.announced.number, isSuspect: true)
    #expect(actions.suffix(2) == [.spawn, SupervisionRig.goal(1, .off, [suspect], first: true)])
  }

  @Test func `a failure of the device ends the session`() {
    var rig = inSession()
    _ = rig(Self.read)
    rig(
      .received(.state(.failed(reason: "unplugged"))),
      expecting: [
        .report(.phase(.failed(reason: "unplugged"), reached: nil)),
        .report(.performed(request: 9, .failed(.deviceLost, reason: "unplugged"))),
      ])
    _ = rig(.pursue(2, .off))
    // The process may still answer until it reaches the next goal. The supervision ignores it.
    let other = SessionTag(placement: Placement(number: 2, technology: .type2, uid: []))
    rig(.received(.sessionTag(epoch: 1, other)), expecting: [])
    rig(.received(.progress(request: 9, bytes: 1)), expecting: [])
    rig(.received(.sessionRoundEnded(epoch: 1)), expecting: [])
    rig(.received(.sessionPollingRestarted(epoch: 1)), expecting: [])
    rig(.received(.performed(request: 9, .message([0xD0, 0, 0]))), expecting: [])
    _ = rig(.received(.reached(epoch: 2)))
    #expect(rig(.received(.progress(request: 9, bytes: 1))).contains(.kill))
  }

  @Test func `each request is answered exactly once`() {
    var rig = inSession()
    func failure(_ actions: [ReaderSupervision.Action]) -> ReaderOperationFailure? {
      guard case .report(.performed(_, .failed(let failure, _)))? = actions.first else { return nil }
      return failure
    }
    #expect(failure(rig(.perform(session: 4, request: 1, placement: 1, .read))) == .sessionEnded)
    #expect(failure(rig(.perform(session: 5, request: 1, placement: 7 << 32 | 1, .read))) == .tagLost)
    for number in 0..<UInt64(SessionLedger.mostRequests) {
      let actions = rig(.perform(session: 5, request: number, placement: Self.announced.number, .read))
      #expect(actions == [.send(.perform(epoch: 1, request: number, placement: 1, .read))])
    }
    #expect(failure(rig(.perform(session: 5, request: 99, placement: Self.announced.number, .read))) == .busy)
    let actions = rig(.pursue(2, .off))
    #expect(actions.count == SessionLedger.mostRequests + 1)
    #expect(failure(actions) == .sessionEnded)
    #expect(failure(rig(Self.read)) == .sessionEnded)
  }

  @Test func `a tag that lies there after a session is not announced by the next process`() {
    var rig = inSession()
    _ = rig(.pursue(2, SupervisionRig.scan))
    #expect(rig(.exited("x")).last == SupervisionRig.goal(2, SupervisionRig.scan, first: true))
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    _ = rig(.received(.reached(epoch: 2)))
    // From here on, the tag is known.
    _ = rig(.received(.known(Self.placement)))
    _ = rig(.exited("x"))
    let known = SupervisionRig.known(Self.placement, number: 2 << 32 | 1)
    #expect(rig.advance(.milliseconds(250)) == [.spawn, SupervisionRig.goal(2, SupervisionRig.scan, [known])])
  }

  @Test(
    arguments: [
      [.reached(epoch: 2)], [.sessionTag(epoch: 1, tag)],
      [.sessionTag(epoch: 2, SessionTag(placement: Placement(number: 2, technology: .type2, uid: [])))],
      [.sessionTag(epoch: 1, SessionTag(placement: Placement(number: 1 << 32, technology: .type2, uid: [])))],
      [.sessionTagRemoved(epoch: 1, placement: 2)], [.performed(request: 8, .done)], [.performed(request: 9, .done)],
      [.performed(request: 9, .failed(.empty, reason: "x")), .performed(request: 9, .failed(.empty, reason: "x"))],
      [.progress(request: 10, bytes: 1)], [.sessionRoundEnded(epoch: 1), .sessionRoundEnded(epoch: 1)],
      [.sessionPollingRestarted(epoch: 1)],
      (2...9).map {
        .sessionTag(epoch: 1, SessionTag(placement: Placement(number: $0, technology: .type2, uid: [])))
      },
    ] as [[ReaderMessage]])
  func `a process that sends an impossible message is killed`(_ messages: [ReaderMessage]) {
    var rig = inSession()
    _ = rig(Self.read)
    for message in messages.dropLast() { #expect(!rig(.received(message)).contains(.kill)) }
    guard let last = messages.last else { return }
    let actions = rig(.received(last))
    #expect(actions.first == .kill)
    #expect(actions.contains { if case .report(.phase(.failed, _)) = $0 { true } else { false } })
  }

  @Test func `a process that reports a tag before the session starts is killed`() {
    var rig = SupervisionRig.ready()
    _ = rig(.pursue(1, Self.goal))
    #expect(rig(.received(.sessionTag(epoch: 1, Self.tag))).first == .kill)
  }
}
