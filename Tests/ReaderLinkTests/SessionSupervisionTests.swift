import Testing

@testable import ReaderLink

/// What is decided about reader sessions, without a process or a clock.
@Suite struct SessionSupervisionTests {
  static let options = ReaderSessionOptions(number: 5, technologies: ["type-2"])
  static let placement = Placement(number: 1, technology: "type-2", uid: [4, 2, 3, 4, 5, 6, 7])
  static var announced: Placement {
    Placement(number: 1 << 32 | 1, technology: placement.technology, uid: placement.uid)
  }
  static let tag = SessionTag(placement: placement, atqa: [0, 0x44], sak: 0)
  static var read: ReaderSupervision.Event {
    .perform(session: 5, request: 9, placement: announced.number, .read)
  }
  let breakingOff = ReaderTiming(device: "pn532_uart:/dev/x").breakingOff

  /// A process that sleeps with its device open.
  func ready() -> SupervisionRig {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.heartbeat(within: 0)))
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    return rig
  }

  /// A process in a session with a tag.
  func inSession() -> SupervisionRig {
    var rig = ready()
    #expect(rig(.beginSession(Self.options)) == [.send(.beginSession(Self.options))])
    #expect(rig(.received(.sessionBegan(5))) == [.report(.sessionBegan(5))])
    _ = rig(.received(.heartbeat(within: 0)))
    let reported = rig(.received(.sessionTag(5, Self.tag)))
    #expect(reported == [.report(.sessionTag(5, Self.tag.at(Self.announced)))])
    return rig
  }

  @Test func beginsTellsAndEnds() {
    var rig = inSession()
    #expect(rig.supervision.deadline == nil)
    #expect(rig(Self.read) == [.send(.perform(session: 5, request: 9, placement: 1, .read))])
    #expect(rig(.received(.progress(request: 9, bytes: 10))) == [.report(.progress(request: 9, bytes: 10))])
    let message = ReaderMessage.performed(request: 9, .message([0xD0, 0, 0]))
    #expect(rig(.received(message)) == [.report(.performed(request: 9, .message([0xD0, 0, 0])))])
    #expect(rig(.restartPolling(5)) == [.send(.restartPolling(5))])
    let removed = rig(.received(.sessionTagRemoved(5, placement: 1)))
    #expect(removed == [.report(.sessionTagRemoved(5, placement: Self.announced.number))])
    #expect(rig(.endSession(5)) == [.send(.endSession(5))])
    #expect(rig(.endSession(5)) == [])
    #expect(rig(.received(.sessionEnded(5))) == [.report(.sessionEnded(5))])
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.supervision.deadline == nil)
    #expect(rig(.beginSession(ReaderSessionOptions(number: 6))).count == 1)
  }

  /// A client that looks anew for whatever is found.
  @Test func whatIsFoundAnewBecauseItWasAskedForIsNotHeldAgainstIt() {
    var rig = inSession()
    var last: UInt64 = 1
    for _ in 0...SessionLedger.mostTags {
      _ = rig(.restartPolling(5))
      #expect(!rig(.received(.sessionTagRemoved(5, placement: last))).contains(.kill))
      last += 1
      let placement = Placement(number: last, technology: "type-2", uid: [4, 2, 3, 4, 5, 6, 7])
      #expect(!rig(.received(.sessionTag(5, SessionTag(placement: placement)))).contains(.kill))
    }
    // As much without being asked is.
    var actions: [ReaderSupervision.Action] = []
    for _ in 0...SessionLedger.mostTags where !actions.contains(.kill) {
      actions = rig(.received(.sessionTagRemoved(5, placement: last)))
      last += 1
      let placement = Placement(number: last, technology: "type-2", uid: [4, 2, 3, 4, 5, 6, 7])
      actions += rig(.received(.sessionTag(5, SessionTag(placement: placement))))
    }
    #expect(actions.contains(.kill))
  }

  @Test func thereIsNoneWithoutADeviceOrBesideAnother() {
    func isLost(_ actions: [ReaderSupervision.Action], _ number: UInt64) -> Bool {
      if case .report(.sessionLost(number, _))? = actions.first { actions.count == 1 } else { false }
    }
    var rig = SupervisionRig()
    #expect(isLost(rig(.beginSession(Self.options)), 5))
    _ = rig(.start)
    #expect(isLost(rig(.beginSession(Self.options)), 5))
    _ = rig(.received(.state(.absent(reason: "no reader is connected"))))
    let actions = rig(.beginSession(Self.options))
    #expect(actions == [.report(.sessionLost(5, reason: "no reader is connected"))])
    var other = inSession()
    #expect(isLost(other(.beginSession(ReaderSessionOptions(number: 6))), 6))
    #expect(other(.endSession(6)) == [])
    _ = other(.lend(true))
    #expect(isLost(other(.beginSession(ReaderSessionOptions(number: 7))), 7))
  }

  @Test func eachThingHasItsTime() {
    var begin = ready()
    _ = begin(.beginSession(Self.options))
    #expect(begin.remaining == .seconds(1))
    _ = begin(.received(.heartbeat(within: 0)))
    #expect(begin.remaining == breakingOff)
    #expect(begin.advance(breakingOff).contains(.kill))

    var operation = inSession()
    _ = operation(Self.read)
    _ = operation(.received(.heartbeat(within: 0)))
    #expect(operation.remaining == ReaderTiming.operation + breakingOff)
    _ = operation(.perform(session: 5, request: 10, placement: Self.announced.number, .query))
    _ = operation(.received(.heartbeat(within: 0)))
    operation.now += .seconds(20)
    // The next one has time of its own.
    _ = operation(.received(.performed(request: 9, .failed(.empty, reason: "x"))))
    #expect(operation.remaining == ReaderTiming.operation + breakingOff)
    #expect(operation.advance(ReaderTiming.operation + breakingOff).contains(.kill))

    var end = inSession()
    _ = end(.endSession(5))
    _ = end(.received(.heartbeat(within: 0)))
    #expect(end.remaining == breakingOff)
    #expect(end.advance(breakingOff).contains(.kill))
  }

  @Test func scanningIsNotExpectedInASession() {
    var rig = ready()
    _ = rig(.scan(true))
    _ = rig(.received(.scanning(true)))
    _ = rig(.beginSession(Self.options))
    #expect(rig(.received(.scanning(false))) == [.report(.scanning(false))])
    _ = rig(.received(.sessionBegan(5)))
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.supervision.deadline == nil)
    _ = rig(.endSession(5))
    _ = rig(.received(.sessionEnded(5)))
    // From here on it is.
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.remaining == ReaderTiming(device: "pn532_uart:/dev/x").obedience)
  }

  @Test func itsProcessEndsIt() {
    var rig = inSession()
    _ = rig(Self.read)
    let lost = "the reader process ended: killed by signal 9 (Killed)"
    let actions = rig(.exited("killed by signal 9 (Killed)"))
    #expect(
      actions.prefix(2) == [
        .report(.performed(request: 9, .failed(.deviceLost, reason: lost))), .report(.sessionLost(5, reason: lost)),
      ])
    // The tag that something was done with is the suspect, and nothing that lay there is announced by the next process.
    let crash = ReaderCrash(reason: "killed by signal 9 (Killed)", suspect: Self.announced, restart: .zero)
    #expect(actions.contains(.report(.crashed(crash))))
    let avoided = AvoidedTag(uid: Self.placement.uid, technology: "type-2", mayHaveChanged: true)
    #expect(actions.suffix(3) == [.spawn, .send(.avoid(avoided)), .send(.lend(false))])
    #expect(rig(.endSession(5)) == [])
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    // Its field was on.
    #expect(rig(.received(.scanning(false))) == [.report(.scanning(false))])
  }

  @Test func itsDeviceEndsIt() {
    var rig = inSession()
    _ = rig(Self.read)
    #expect(
      rig(.received(.state(.failed(reason: "unplugged")))) == [
        .report(.state(.failed(reason: "unplugged"))),
        .report(.performed(request: 9, .failed(.deviceLost, reason: "unplugged"))), .send(.endSession(5)),
        .report(.sessionLost(5, reason: "unplugged")),
      ])
    // What it says before it has heard that counts no more, and is no lie.
    let other = SessionTag(placement: Placement(number: 2, technology: "type-2", uid: []))
    #expect(rig(.received(.sessionTag(5, other))) == [])
    #expect(rig(.received(.progress(request: 9, bytes: 1))) == [])
    #expect(rig(.received(.performed(request: 9, .message([0xD0, 0, 0])))) == [])
    #expect(rig(.received(.sessionEnded(5))) == [])
    #expect(rig(.received(.sessionEnded(5))).contains(.kill))
  }

  /// The process is told once, and answers once.
  @Test func aDeviceThatFailsWhileASessionEnds() {
    var rig = inSession()
    #expect(rig(.endSession(5)) == [.send(.endSession(5))])
    let actions = rig(.received(.state(.failed(reason: "unplugged"))))
    #expect(actions == [.report(.state(.failed(reason: "unplugged"))), .report(.sessionLost(5, reason: "unplugged"))])
    #expect(rig(.received(.sessionEnded(5))) == [])
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.supervision.deadline == nil)
  }

  @Test func aRequestIsAnsweredOnceWhateverHappens() {
    var rig = inSession()
    func failure(_ actions: [ReaderSupervision.Action]) -> ReaderOperationFailure? {
      guard case .report(.performed(_, .failed(let failure, _)))? = actions.first else { return nil }
      return failure
    }
    #expect(failure(rig(.perform(session: 4, request: 1, placement: 1, .read))) == .sessionEnded)
    #expect(failure(rig(.perform(session: 5, request: 1, placement: 7 << 32 | 1, .read))) == .tagLost)
    for number in 0..<UInt64(SessionLedger.mostRequests) {
      let actions = rig(.perform(session: 5, request: number, placement: Self.announced.number, .read))
      #expect(actions == [.send(.perform(session: 5, request: number, placement: 1, .read))])
    }
    #expect(failure(rig(.perform(session: 5, request: 99, placement: Self.announced.number, .read))) == .busy)
    _ = rig(.endSession(5))
    let actions = rig(.received(.sessionEnded(5)))
    #expect(actions.count == SessionLedger.mostRequests + 1)
    #expect(actions.last == .report(.sessionEnded(5)))
  }

  @Test func aTagThatIsThereAtTheEndIsLeftAloneByTheNextProcess() {
    var rig = inSession()
    _ = rig(.endSession(5))
    _ = rig(.received(.sessionEnded(5)))
    let avoided = AvoidedTag(uid: Self.placement.uid, technology: "type-2", mayHaveChanged: true)
    #expect(rig(.exited("x")).last == .send(.avoid(avoided)))
    _ = rig(.received(.forgotten(uid: Self.placement.uid)))
    _ = rig(.exited("x"))
    #expect(rig.advance(.milliseconds(250)) == [.spawn])
  }

  @Test(
    arguments: [
      [.sessionBegan(5)], [.sessionBegan(6)], [.sessionEnded(5)], [.sessionEnded(6)], [.sessionTag(5, tag)],
      [.sessionTag(6, SessionTag(placement: Placement(number: 2, technology: "type-2", uid: [])))],
      [.sessionTag(5, SessionTag(placement: Placement(number: 1 << 32, technology: "type-2", uid: [])))],
      [.sessionTagRemoved(5, placement: 2)], [.performed(request: 8, .done)], [.performed(request: 9, .done)],
      [.performed(request: 9, .failed(.empty, reason: "x")), .performed(request: 9, .failed(.empty, reason: "x"))],
      [.progress(request: 10, bytes: 1)], [.lent(true)],
      (2...9).map { .sessionTag(5, SessionTag(placement: Placement(number: $0, technology: "type-2", uid: []))) },
    ] as [[ReaderMessage]])
  func aLiarIsEnded(_ messages: [ReaderMessage]) {
    var rig = inSession()
    _ = rig(Self.read)
    for message in messages.dropLast() { #expect(!rig(.received(message)).contains(.kill)) }
    guard let last = messages.last else { return }
    let actions = rig(.received(last))
    #expect(actions.first == .kill)
    let isLost = actions.contains { if case .report(.sessionLost(5, _)) = $0 { true } else { false } }
    #expect(isLost)
  }

  // MARK: Lending

  @Test func lendingClosesTheDeviceAndOpensIt() {
    var rig = inSession()
    #expect(rig(.lend(true)) == [.send(.endSession(5)), .send(.lend(true))])
    #expect(rig(.lend(true)) == [])
    #expect(rig(.received(.sessionEnded(5))) == [.report(.sessionEnded(5))])
    #expect(rig(.received(.lent(true))) == [.report(.lent(true))])
    _ = rig(.received(.heartbeat(within: 0)))
    _ = rig(.scan(true))
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.supervision.deadline == nil)
    #expect(rig(.lend(false)) == [.send(.lend(false))])
    #expect(rig(.received(.lent(false))) == [.report(.lent(false))])
  }

  @Test func aDeviceThatIsLentAgainBeforeItIsBackIsSaidToBeClosedAnew() {
    var rig = ready()
    _ = rig(.lend(true))
    #expect(rig(.received(.lent(true))) == [.report(.lent(true))])
    _ = rig(.lend(false))
    #expect(rig(.lend(true)) == [.send(.lend(true))])
    // What it says of the time between is no news: it is not lent yet.
    #expect(rig(.received(.lent(false))) == [])
    #expect(rig(.received(.lent(true))) == [.report(.lent(true))])
  }

  @Test func whoDoesNotCloseItsDeviceIsKilledAndThenItIsClosed() {
    var rig = ready()
    _ = rig(.lend(true))
    _ = rig(.received(.heartbeat(within: 0)))
    #expect(rig.advance(breakingOff).contains(.kill))
    let actions = rig(.exited("killed by signal 9 (Killed)"))
    #expect(actions.first == .report(.lent(true)))
    // The next one is told before it opens anything.
    #expect(actions.suffix(2) == [.spawn, .send(.lend(true))])
    #expect(rig(.received(.lent(true))) == [])
  }

  @Test func withoutAProcessTheDeviceIsClosed() {
    var rig = ready()
    _ = rig(.exited("x"))
    _ = rig(.exited("x"))
    #expect(rig(.lend(true)) == [.report(.lent(true))])
    #expect(rig(.lend(false)) == [.report(.lent(false))])
    #expect(rig.advance(.milliseconds(250)) == [.spawn, .send(.lend(false))])
    #expect(rig(.received(.lent(false))) == [])
  }
}
