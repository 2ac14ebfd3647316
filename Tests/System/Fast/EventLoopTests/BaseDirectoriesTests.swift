import EventLoop
import Rig
import Testing

struct BaseDirectoriesTests {
  @Test func `absolute directories in the environment are used, and relative ones are ignored`() {
    let given = BaseDirectories(environment: [
      "HOME": "/home/me", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s",
      "XDG_CONFIG_DIRS": "/e:relative::/f", "XDG_DATA_DIRS": "relative:/g",
    ])
    #expect((given.configuration, given.data, given.state) == ("/c", "/d", "/s"))
    #expect(given.systemConfiguration == ["/e", "/f"])
    #expect(given.systemData == ["/g"])
  }

  @Test(arguments: ["", "relative"])
  func `without an absolute directory the default of the specification is used`(value: String) {
    var environment = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"].reduce(into: ["HOME": "/home/me"]) {
      $0[$1] = value
    }
    let standard = BaseDirectories(environment: environment)
    #expect(standard.configuration == "/home/me/.config")
    #expect((standard.data, standard.state) == ("/home/me/.local/share", "/home/me/.local/state"))
    #expect(standard.systemConfiguration == ["/etc/xdg"])
    #expect(standard.systemData == nil)
    environment["HOME"] = value
    let nowhere = BaseDirectories(environment: environment)
    #expect(nowhere.configuration == nil && nowhere.data == nil && nowhere.state == nil)
  }

  @Test(arguments: [("/", "/.config"), ("/home/me/", "/home/me/.config"), ("/root", "/root/.config")])
  func `a home directory that ends in a slash gets no second slash`(home: String, configuration: String) {
    #expect(BaseDirectories(environment: ["HOME": home]).configuration == configuration)
  }
}

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
