import EventLoop
import Glibc
import Rig
import Testing

@testable import Daemon

@Suite struct MasterSwitchTests {
  @Test func `the switch is on until it is turned off, and its state is stored`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("state")
    #expect(MasterSwitch(directory: path).load() == .init(isEnabled: true))
    try MasterSwitch(directory: path).store(false)
    #expect(MasterSwitch(directory: path).load() == .init(isEnabled: false))
    try MasterSwitch(directory: path).store(true)
    #expect(MasterSwitch(directory: path).load() == .init(isEnabled: true))
  }

  @Test(arguments: ["", "\u{1}\u{2}", "maybe\n", "nonsense\n", "yes\nyes\n"])
  func `a file with neither yes nor no keeps scanning off`(content: String) throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write(content, to: "enabled")
    let stored = MasterSwitch(directory: directory.path).load()
    #expect(!stored.isEnabled)
    #expect(stored.problem?.hasPrefix("\(file) contains neither yes nor no: ") == true)
    try MasterSwitch(directory: directory.path).store(true)
    #expect(MasterSwitch(directory: directory.path).load() == .init(isEnabled: true))
  }

  @Test func `an unreadable file keeps scanning off`() throws {
    let directory = try TemporaryDirectory()
    #expect(mkdir(directory.file("enabled"), 0o755) == 0)
    let stored = MasterSwitch(directory: directory.path).load()
    #expect(!stored.isEnabled)
    #expect(stored.problem?.contains(directory.file("enabled")) == true)
  }

  @Test func `storing into an impossible directory is an error`() {
    #expect(throws: SystemError.self) { try MasterSwitch(directory: "/dev/null/state").store(false) }
    #expect(MasterSwitch(directory: "/dev/null/state").load() == .init(isEnabled: true))
  }
}
