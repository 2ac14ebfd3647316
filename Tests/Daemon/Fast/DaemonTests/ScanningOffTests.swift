import Bus
import EventLoop
import Glibc
import Names
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

@Suite struct InhibitorListTests {
  private var list = InhibitorList()

  @Test mutating func `the oldest inhibitor comes first`() throws {
    let first = try list.add(who: "nfc-list", why: "a look at the reader", uid: 1000, pid: 7)
    _ = try list.add(who: "backup", why: "quiet please", uid: 0, pid: nil)
    #expect(list.inhibitors.map(\.who) == ["nfc-list", "backup"])
    #expect(list.inhibitors.map(\.pid) == [7, 0])
    list.remove(first.id)
    list.remove(first.id)
    #expect(list.inhibitors.map(\.who) == ["backup"])
  }

  @Test mutating func `a reader that is plugged in again stays lent`() throws {
    let inhibitor = try list.add(who: "nfc-poll", why: "b", uid: 1000, pid: 7)
    list.release(0, at: "/sys/devices/a", with: inhibitor.id)
    #expect(list.inhibitor(releasing: 0)?.id == inhibitor.id)
    list.forget(0)
    #expect(list.inhibitors.first?.reader == nil)
    #expect(list.inhibitor(releasingDeviceAt: "/sys/devices/a")?.id == inhibitor.id)
    #expect(list.inhibitor(releasingDeviceAt: "/sys/devices/b") == nil)
    list.release(3, at: "/sys/devices/a", with: inhibitor.id)
    #expect(list.inhibitor(releasing: 3)?.id == inhibitor.id)
    #expect(list.remove(inhibitor.id) == 3)
    #expect(list.inhibitor(releasingDeviceAt: "/sys/devices/a") == nil)
    #expect(list.inhibitor(releasing: 3) == nil)
  }

  private mutating func add(_ who: String = "a", why: String = "b", uid: UInt32) throws(BusError) {
    _ = try list.add(who: who, why: why, uid: uid, pid: nil)
  }

  @Test mutating func `a user can hold 16 inhibitors, and all users together 128`() throws {
    for _ in 0..<16 { try add(uid: 0) }
    #expect(throws: BusError.tooMany("user 0 already has 16 inhibitors: release one")) { try add(uid: 0) }
    for uid in 1..<8 as Range<UInt32> { for _ in 0..<16 { try add(uid: uid) } }
    #expect(throws: BusError.tooMany("there are already 128 inhibitors")) { try add(uid: 99) }
  }

  @Test(arguments: ["", String(repeating: "a", count: 129), "a\nb", "a\u{202E}b", "a\u{0}b"])
  mutating func `the argument who must be a short plain text`(who: String) {
    let error = #expect(throws: BusError.self) { try add(who, uid: 0) }
    #expect(error?.name == Names.Errors.invalidArgument)
  }

  @Test mutating func `the argument why can have up to 256 bytes`() throws {
    try add(why: String(repeating: "b", count: 256), uid: 0)
    let error = #expect(throws: BusError.self) { try add(why: String(repeating: "b", count: 257), uid: 0) }
    #expect(error?.name == Names.Errors.invalidArgument)
  }
}
