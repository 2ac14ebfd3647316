import EventLoop
import Rig
import Testing

@Suite struct SystemDirectoriesTests {
  @Test func systemdIsTheManagerWhereItSaysSo() throws {
    let services = try TemporaryDirectory()
    let directories = SystemDirectories(environment: ["TAGROUTE_RUN": services.path])
    #expect(!directories.hasSystemd)
    // Installed, it leaves files here also where something else is the manager.
    try services.write("", to: "systemd/resolve/resolv.conf")
    #expect(!directories.hasSystemd)
    try services.write("", to: "systemd/system/.keep")
    #expect(directories.hasSystemd)
  }

  @Test func aFolderThatIsNotAbsoluteIsNone() {
    let directories = SystemDirectories(environment: ["TAGROUTE_RUN": "run", "TAGROUTE_DEV": "", "TAGROUTE_SYS": "/s"])
    #expect(directories == SystemDirectories(environment: ["TAGROUTE_SYS": "/s"]))
    #expect([directories.runtime, directories.devices, directories.kernel] == ["/run", "/dev", "/s"])
  }
}
