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
      .examining(placement), .tag(epoch: 0, TagReport(placement: placement, content: .message([]))),
      .state(.ready(name: "x", device: "x")),
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

  private let scan = SupervisionRig.scan

  /// What was laid down for another program or a session lay on the reader that is away.
  @Test func whatLiesOnAReaderThatWasPluggedInIsAnnounced() {
    var rig = SupervisionRig.ready()
    _ = rig(.pursue(1, .session(ReaderSessionOptions(number: 1))))
    _ = rig(.pursue(2, scan))
    _ = rig(.received(.state(.absent(reason: "away"))))
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")) == [.spawn, SupervisionRig.goal(2, scan)])
  }

  @Test func aLoanGoesOverToTheSuccessorAndWhatWasLaidDownForItWithIt() {
    var rig = SupervisionRig.ready()
    _ = rig(.pursue(1, .lent))
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")).suffix(2) == [.spawn, SupervisionRig.goal(1, .lent, first: true)])
    _ = rig(.received(.reached(epoch: 1)))
    _ = rig(.pursue(2, scan))
    #expect(rig(.exited("exited with code 1")).contains(SupervisionRig.goal(2, scan, first: true)))
  }

  /// Nor does whoever has not said that it has stopped: the next one who looks may be somebody else.
  @Test func aStopWithoutWordLetsTheSuccessorAnnounceNothingOfWhatLiesThere() {
    var rig = SupervisionRig.scanning()
    _ = rig(.pursue(2, .off))
    _ = rig(.received(.successorWanted))
    #expect(rig(.exited("exited with code 0")).suffix(2) == [.spawn, SupervisionRig.goal(2, .off, first: true)])
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
  @Test(arguments: [ReaderMessage.reached(epoch: 2), .state(.ready(name: "y", device: "y"))])
  func aReaderThatHasWorkedSinceFailsForAnotherReason(message: ReaderMessage) {
    for number in UInt64(1)...4 {
      var rig = SupervisionRig.scanning()
      for _ in 1..<InterruptionLedger.most { #expect(!failReading(&rig, number: number)) }
      if case .reached = message { _ = rig(.pursue(2, .off)) }
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
