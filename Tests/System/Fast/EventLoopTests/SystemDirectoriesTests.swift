import EventLoop
import Rig
import Testing

@Suite struct SystemDirectoriesTests {
  @Test func `systemd is the service manager if its runtime directory exists`() throws {
    let services = try TemporaryDirectory()
    let directories = SystemDirectories(environment: ["TAGROUTE_RUN": services.path])
    #expect(!directories.hasSystemd)
    // An installed systemd has files here even if another program is the service manager.
    try services.write("", to: "systemd/resolve/resolv.conf")
    #expect(!directories.hasSystemd)
    try services.write("", to: "systemd/system/.keep")
    #expect(directories.hasSystemd)
  }

  @Test func `a directory in the environment that is not absolute is ignored`() {
    let directories = SystemDirectories(environment: ["TAGROUTE_RUN": "run", "TAGROUTE_DEV": "", "TAGROUTE_SYS": "/s"])
    #expect(directories == SystemDirectories(environment: ["TAGROUTE_SYS": "/s"]))
    #expect([directories.runtime, directories.devices, directories.kernel] == ["/run", "/dev", "/s"])
    let others = SystemDirectories(environment: ["TAGROUTE_DEV": "/d", "TAGROUTE_SYS": "", "TAGROUTE_PROC": "/p"])
    #expect([others.devices, others.kernel, others.processes] == ["/d", "/sys", "/p"])
    #expect(directories.processes == "/proc")
  }
}
