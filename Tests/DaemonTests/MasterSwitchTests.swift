import EventLoop
import TestSupport
import Testing

@testable import Daemon

@Suite struct MasterSwitchTests {
  @Test func itIsOnUntilItIsSwitchedOffAndRemembers() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("state")
    #expect(MasterSwitch(directory: path).load())
    try MasterSwitch(directory: path).store(false)
    #expect(!MasterSwitch(directory: path).load())
    try MasterSwitch(directory: path).store(true)
    #expect(MasterSwitch(directory: path).load())
  }

  @Test func whatIsNeitherYesNorNoIsOn() throws {
    let directory = try TemporaryDirectory()
    _ = try directory.write("\u{1}\u{2}", to: "enabled")
    #expect(MasterSwitch(directory: directory.path).load())
  }

  @Test func aDirectoryThatCannotBeIsAnError() {
    #expect(throws: SystemError.self) { try MasterSwitch(directory: "/dev/null/state").store(false) }
    #expect(MasterSwitch(directory: "/dev/null/state").load())
  }
}
