import Testing

import ReaderProtocol

@testable import Daemon

/// A reader that waits for another program.
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
    // Without a device there is nothing to wait for.
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
