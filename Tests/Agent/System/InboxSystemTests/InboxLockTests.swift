import EventLoop
import Glibc
import TestKit
import Testing

@testable import Inbox

struct InboxLockTests {
  @Test func `a child between fork and exec does not keep a lock that its parent releases`() throws {
    let temporary = try TemporaryDirectory()
    let path = temporary.file("lock")
    var lock: InboxLock?
    if case .held(let held) = InboxLock.ask(path) { lock = held }
    // Like such a child, it has another descriptor of the same open file.
    let copy = dup(try #require(lock?.descriptor.rawValue))
    defer { close(copy) }
    guard case .taken = InboxLock.ask(path) else { throw RigError("the lock could be taken twice") }
    lock = nil
    guard case .held = InboxLock.ask(path) else { throw RigError("the lock was not released") }
  }
}
