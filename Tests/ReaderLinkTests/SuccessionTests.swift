import Testing

@testable import ReaderLink

/// A process that ends so that the next one may open what was plugged in, and what a tag that was being read has to do with that.
@Suite struct SuccessionTests {
  private let placement = Placement(number: 1, technology: "type-2", uid: [4, 1, 2, 3, 4, 5, 6])

  private func crashes(_ actions: [ReaderSupervision.Action]) -> Bool {
    actions.contains { if case .report(.crashed) = $0 { true } else { false } }
  }

  @Test(arguments: [
    "killed by signal 11 (Segmentation fault)", "killed by signal 31 (Bad system call)", "exited with code 1",
  ])
  func aCrashIsOneWhateverWasSaidBefore(reason: String) {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.received(.successorWanted))
    #expect(crashes(rig(.exited(reason))))
  }

  @Test func whoHasAskedForASuccessorHasNoDevice() {
    let messages: [ReaderMessage] = [
      .examining(placement), .tag(TagReport(placement: placement, content: .message([]))),
      .state(.ready(name: "x", device: "x")), .scanning(true),
    ]
    for message in messages {
      var rig = SupervisionRig()
      _ = rig(.start)
      _ = rig(.received(.examining(placement)))
      _ = rig(.received(.successorWanted))
      #expect(rig(.received(message)).first == .kill, "\(message)")
      #expect(crashes(rig(.exited("killed by signal 9 (Killed)"))))
    }
  }

  /// What was to be left alone lay on the reader that is away.
  @Test func whatLiesOnAReaderThatWasPluggedInIsAnnounced() {
    var rig = SupervisionRig()
    _ = rig(.quieten)
    _ = rig(.scan(true))
    #expect(rig(.start) == [.spawn, .send(.lend(false)), .send(.scan(true))])
    _ = rig(.received(.state(.absent(reason: "away"))))
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")) == [.spawn, .send(.scan(true))])
  }

  @Test func aLoanGoesOverToTheSuccessorAndQuietWithIt() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.lend(true))
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")).suffix(2) == [.spawn, .send(.lend(true))])
    _ = rig(.received(.successorWanted))
    _ = rig(.lend(false))
    #expect(rig(.exited("exited with code 1")).contains(.send(.lend(false))))
  }

  /// It has opened the device after the loan, and ends before it looks: the tag was laid down for the other program.
  @Test func whatWasLentIsQuietAlsoForTheSuccessorOfTheSuccessor() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.lend(true))
    _ = rig(.received(.successorWanted))
    _ = rig(.exited("exited with code 0"))
    _ = rig(.lend(false))
    _ = rig(.received(.lent(false)))
    #expect(rig(.exited("exited with code 1")).contains(.send(.lend(false))))
  }

  /// Nor does whoever has not said that it has stopped: the next one who looks may be somebody else.
  @Test func aStopWithoutWordKeepsTheSuccessorQuiet() {
    var rig = SupervisionRig()
    _ = rig(.start)
    _ = rig(.scan(true))
    _ = rig(.scan(false))
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")).suffix(3) == [.report(.stopped), .spawn, .send(.lend(false))])
  }

  // MARK: Tags that take the reader

  /// Reads the tag, does not come to its end, and fails.
  ///
  /// - Returns: whether the tag is given up.
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

  @Test func aReaderThatFailsWhenATagIsReadGivesThatTagUp() {
    var rig = SupervisionRig()
    _ = rig(.start)
    let times = (UInt64(1)...3).map { failReading(&rig, number: $0, after: ReaderTiming.grace) }
    #expect(times == [false, false, true])
  }

  /// The tag was taken away too early, and the reader fails for another reason.
  @Test(arguments: [
    ReaderMessage.scanning(false), .stopped, .counters(ReaderCounters()), .state(.ready(name: "y", device: "y")),
  ])
  func aReaderThatHasWorkedSinceFailsForAnotherReason(message: ReaderMessage) {
    var rig = SupervisionRig()
    _ = rig(.start)
    for number in UInt64(1)...4 {
      if case .stopped = message {
        _ = rig(.scan(true))
        _ = rig(.scan(false))
      }
      #expect(!failReading(&rig, number: number, between: message))
    }
  }

  @Test func aReaderThatFailsMuchLaterFailsForAnotherReason() {
    var rig = SupervisionRig()
    _ = rig(.start)
    for number in UInt64(1)...4 { #expect(!failReading(&rig, number: number, after: .seconds(3600))) }
  }

  @Test func failuresThatAreFarApartAreNotOne() {
    var rig = SupervisionRig()
    _ = rig(.start)
    for number in UInt64(1)...4 {
      rig.now += .seconds(3600)
      #expect(!failReading(&rig, number: number))
    }
  }
}
