import EventLoop
import Glibc
import TestSupport
import Testing

@testable import Daemon

@Suite struct RestartMarkTests {
  @Test func theSecondDaemonFindsTheMarkOfTheFirst() throws {
    let directory = try TemporaryDirectory()
    let mark = RestartMark(folder: directory.file("."))
    #expect(try !mark.leave())
    #expect(try mark.leave())
    #expect(try mark.leave())
  }

  @Test func withoutAPlaceForItNobodyKnows() throws {
    #expect(try !RestartMark(folder: nil).leave())
    #expect(throws: SystemError.self) { try RestartMark(folder: "/nonexistent").leave() }
  }
}
