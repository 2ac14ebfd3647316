import EventLoop
import Glibc
import Testing

@testable import Handlers

@Suite struct WatchPlanTests {
  @Test func `events of unwatched folders are ignored, and lost events always matter`() {
    var plan = WatchPlan()
    #expect(!plan.knows(1) && !plan.matters(event(1, "menu.desktop")))
    plan.watch("/applications", as: .init(number: 1, missing: nil))
    #expect(plan.knows(1) && plan.matters(event(1, "menu.desktop")))
    #expect(WatchPlan().matters(.lost))
  }

  private func event(_ number: Int32, _ name: String, _ mask: Int32 = IN_CLOSE_WRITE) -> DirectoryWatch.Event {
    DirectoryWatch.Event(number: number, mask: UInt32(bitPattern: mask), name: name)
  }

  @Test func `only events that affect a watched name matter`() {
    var plan = WatchPlan()
    plan.watch("/data/applications", as: .init(number: 1, missing: nil))
    plan.watch("/home/none/applications", as: .init(number: 2, missing: "none"))
    plan.watch(file: "/tmp/rules.json", as: .init(number: 3, missing: nil))
    plan.watch(file: "/tmp/none/rules.json", as: .init(number: 3, missing: "none"))
    plan.watch(file: "/etc/x.json", as: nil)
    #expect(plan.reached == ["/data/applications", "/tmp/rules.json"])
    #expect(plan.numbers == [1, 2, 3])
    for (event, expected) in [
      (event(1, "menu.desktop"), true), (event(1, "menu.json"), false),
      (event(1, "folder", IN_CREATE | IN_ISDIR), true),
      (event(1, "", IN_DELETE_SELF), true), (event(2, "other", IN_CREATE | IN_ISDIR), false),
      (event(2, "none", IN_CREATE | IN_ISDIR), true), (event(3, "rules.json"), true), (event(3, "menu.desktop"), false),
      (event(3, "folder", IN_CREATE | IN_ISDIR), false), (event(3, "none", IN_CREATE | IN_ISDIR), true),
      (event(3, "", IN_MOVE_SELF), true), (event(4, "menu.desktop"), false), (event(-1, "", IN_Q_OVERFLOW), true),
    ] {
      #expect(plan.matters(event) == expected, "\(event)")
    }
  }
}
