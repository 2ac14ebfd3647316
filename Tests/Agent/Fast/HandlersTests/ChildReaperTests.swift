import EventLoop
import Glibc
import Testing

@testable import Handlers

@Suite(.timeLimit(.minutes(1))) struct ChildReaperTests {
  @Test func `a child that nothing can wait for gives its place back`() async {
    let reaper = ChildReaper(on: EventLoop(label: "test"), openDescriptor: { _ in -1 }) { _ throws(SystemError) in
      throw SystemError("start a thread", errno: EAGAIN)
    }
    await confirmation { ended in await reaper.adopt(1) { ended() } }
  }
}
