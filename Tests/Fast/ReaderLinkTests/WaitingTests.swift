import Testing

@testable import ReaderLink

/// A reader that waits for another program.
@Suite struct WaitingTests {
  private static func waits(_ reason: String) -> ReaderSupervision.Action { .report(.waiting(reason: reason)) }

  @Test func `a wait is reported when it begins, when its reason changes and when it ends`() {
    var rig = SupervisionRig.scanning()
    #expect(rig(.received(.waiting(reason: "gpg has the card"))) == [Self.waits("gpg has the card")])
    #expect(rig(.received(.waiting(reason: "gpg has the card"))) == [])
    #expect(rig(.received(.waiting(reason: "firefox has the card"))) == [Self.waits("firefox has the card")])
    #expect(rig(.received(.waiting(reason: ""))) == [Self.waits("")])
    #expect(rig(.received(.waiting(reason: ""))) == [])
    #expect(rig.supervision.phase == .scanning)
  }

  @Test func `a wait survives a new goal and ends with the state of the device`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.waiting(reason: "x")))
    _ = rig(.pursue(2, .off))
    #expect(rig(.received(.reached(epoch: 2))) == [.report(.phase(SupervisionRig.open, reached: 2))])
    #expect(rig(.received(.waiting(reason: "x"))) == [])
    #expect(
      rig(.received(.state(.absent(reason: "unplugged")))) == [
        Self.waits(""), .report(.phase(.absent(reason: "unplugged"), reached: 2)),
      ])
    // Without a device there is nothing to wait for.
    #expect(rig(.received(.waiting(reason: "x"))) == [])
  }

  @Test func `the next process waits anew`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.waiting(reason: "x")))
    _ = rig(.exited("killed"))
    _ = rig(.received(.state(.ready(name: "x", device: "y"))))
    #expect(rig(.received(.waiting(reason: "x"))) == [Self.waits("x")])
  }

  @Test func `a loan ends a wait`() {
    var rig = SupervisionRig.scanning()
    _ = rig(.received(.waiting(reason: "x")))
    _ = rig(.pursue(2, .lent))
    _ = rig(.received(.reached(epoch: 2)))
    #expect(rig(.received(.waiting(reason: "y"))) == [])
    _ = rig(.pursue(3, .off))
    _ = rig(.received(.state(.ready(name: "x", device: "z"))))
    #expect(rig(.received(.waiting(reason: "x"))) == [Self.waits("x")])
  }

  @Test func `a process that changes its reason without end is killed`() {
    var rig = SupervisionRig.scanning()
    let changes = (0...ReaderSupervision.mostChanges).flatMap { rig(.received(.waiting(reason: "\($0)"))) }
    #expect(changes.contains(.kill))
    #expect(changes.filter { if case .report(.waiting) = $0 { true } else { false } }.count < 202)
  }
}
