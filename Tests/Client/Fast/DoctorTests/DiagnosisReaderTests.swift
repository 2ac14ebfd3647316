import Foundation
import Glibc
import Rig
import Testing

@testable import Doctor
@testable import TagrouteClient

struct DiagnosisReaderTests {
  private static let daemon = Examination.Credentials(
    user: 900, userName: "tagroute", groupName: "tagroute", groups: [900])

  private func wrong(_ reason: String = "", _ change: (inout Examination) -> Void) -> [Finding] {
    Seen.wrong {
      var failed = Seen.reader
      (failed.state, failed.stateReason) = ("failed", reason)
      $0.daemon = .given(
        DaemonStatus(
          version: "0.1.0", enabled: true, scanning: false, suspendReasons: ["no-reader"], readers: [failed]))
      $0.daemonCredentials = Self.daemon
      change(&$0)
    }
  }

  private func command(_ node: Examination.Node, _ change: (inout Examination) -> Void = { _ in }) -> String? {
    wrong("it says why") {
      $0.nodes = ["/r": node]
      change(&$0)
    }.first?.remedy?.command
  }

  @Test func `a reader that cannot be used comes with the daemon's own remedy`() {
    let reason = "it is taken by another program: stop that program"
    #expect(wrong(reason) { _ in } == [.wrong(.reader, "ACR122U (acr122_usb:001:004) is failed", .advise(reason))])
    #expect(wrong { _ in }.first?.remedy?.command == "sudo journalctl -u tagrouted.service -n 20")
  }

  @Test func `a file that the daemon may not open comes with the command that permits it`() {
    let dialout = Examination.Node(path: "/dev/ttyUSB0", group: 20, groupName: "dialout", mode: 0o660)
    #expect(command(dialout) == "sudo usermod -aG dialout tagroute && sudo systemctl restart tagrouted.service")
    var closed = dialout
    closed.mode = 0
    #expect(
      command(closed) == "sudo chmod g+rw /dev/ttyUSB0 && sudo usermod -aG dialout tagroute && "
        + "sudo systemctl restart tagrouted.service")
    var roots = dialout
    (roots.group, roots.groupName) = (0, "root")
    #expect(command(roots) == "sudo chgrp tagroute /dev/ttyUSB0 && sudo chmod g+rw /dev/ttyUSB0")
    var usb = dialout
    (usb.path, usb.isUSB) = ("/dev/bus/usb/001/004", true)
    #expect(
      command(usb) == "sudo udevadm control --reload && sudo udevadm trigger --subsystem-match=usb --action=change")
    // Without the udev rules of Tagroute, udev has none to apply. The rules permit only the usual user of the daemon.
    #expect(command(usb) { $0.hasUdevRules = false } == "sudo apt-get install --reinstall tagroute")
    #expect(
      command(usb) { $0.daemonCredentials = .init(user: 1000, userName: "me", groupName: "me", groups: [1000]) }
        == "sudo usermod -aG dialout me && sudo systemctl restart tagrouted.service")
    // The daemon was started by hand from a build, so there is no unit to restart.
    #expect(command(dialout) { $0.daemonUnit = .failed(Seen.absent) } == "sudo usermod -aG dialout tagroute")
  }

  @Test func `the remedy for an absent reader is to plug it in`() {
    func absent(_ namesReaders: Bool?, device: String = Seen.reader.device) -> Finding? {
      wrong {
        let reader = ReaderStatus(
          path: "/r", name: "ACR122U", device: device, seat: "seat0", state: "absent",
          stateReason: "it is not plugged in")
        $0.configuration.namesReaders = namesReaders
        $0.daemon = .given(
          DaemonStatus(version: "0.1.0", enabled: true, scanning: false, suspendReasons: [], readers: [reader]))
      }.first
    }
    #expect(absent(true)?.text == "ACR122U (acr122_usb:001:004) is absent (it is not plugged in)")
    #expect(absent(true)?.remedy == .advise("plug it in, or change Devices= below [Reader] in /etc/tagroute.conf"))
    // Without a configured reader, the configuration needs no change.
    #expect(absent(false)?.remedy == .advise("plug it in"))
    #expect(
      absent(false, device: "")?.remedy
        == .advise("plug in a reader, or name its port in Devices= below [Reader] in /etc/tagroute.conf"))
    #expect(
      absent(nil)?.remedy
        == .advise("plug it in, or check whether Devices= below [Reader] in /etc/tagroute.conf names another reader"))
  }

  @Test func `the configuration tells whether it names readers`() throws {
    let directory = try TemporaryDirectory()
    func namesReaders(_ text: String) throws -> Bool? {
      let file = try directory.write(text, to: "tagroute.conf")
      return ExaminedFiles([:]).daemonConfiguration(arguments: ["tagrouted", "--config", file]).namesReaders
    }
    #expect(try namesReaders("[Reader]\nDevices=pn532_uart:/dev/ttyUSB0\n") == true)
    #expect(try namesReaders("[Reader]\nDevices=\n") == false)
    #expect(try namesReaders("[Scan]\nSessions=any\n") == false)
    #expect(try namesReaders("[Reader]\nDevices=NO\n") == nil)
  }

  @Test func `a file that the daemon may open or that does not exist gets no command`() {
    let dialout = Examination.Node(path: "/dev/ttyUSB0", group: 20, groupName: "dialout", mode: 0o660)
    #expect(command(dialout) { $0.daemonCredentials?.groups.insert(20) } == nil)
    #expect(command(dialout) { $0.daemonCredentials?.user = 0 } == nil)
    #expect(command(dialout) { $0.daemonCredentials = nil } == nil)
    #expect(command(Examination.Node(path: "/dev/ttyUSB0", isThere: false)) == nil)
  }

  /// The credentials of the daemon and the file after a command from doctor.
  private func after(
    _ command: String, _ daemon: Examination.Credentials, _ node: Examination.Node
  ) -> (Examination.Credentials, Examination.Node) {
    let numbers: [Substring: UInt32] = ["tagroute": 900, "dialout": 20]
    var (daemon, node) = (daemon, node)
    for part in command.components(separatedBy: " && ") {
      let words = part.split(separator: " ")
      switch (words.count > 1 ? words[1] : "", words.count > 2 ? words[2] : "") {
      case ("chmod", "u+rw"): node.mode |= 0o600
      case ("chmod", "g+rw"): node.mode |= 0o060
      case ("chgrp", let group): node.group = numbers[group] ?? node.group
      case ("usermod", "-aG"): if let group = numbers[words[3]] { daemon.groups.insert(group) }
      default: #expect(part == "sudo systemctl restart tagrouted.service")
      }
    }
    return (daemon, node)
  }

  @Test func `after the command the daemon may open the file, for any owner, group and mode`() {
    var tried = 0
    for owner: UInt32 in [0, 900] {
      for (group, name) in [(0, "root"), (20, "dialout"), (900, "tagroute"), (4711, "4711")] as [(UInt32, String)] {
        for mode: UInt32 in [0, 0o006, 0o060, 0o600, 0o640, 0o660, 0o620, 0o606] {
          for groups: Set<UInt32> in [[900], [900, 20]] {
            var daemon = Self.daemon
            daemon.groups = groups
            let node = Examination.Node(path: "/dev/ttyUSB0", owner: owner, group: group, groupName: name, mode: mode)
            guard !daemon.mayOpen(node) else { continue }
            tried += 1
            guard let command = command(node, { $0.daemonCredentials = daemon }) else {
              Issue.record("no command for \(node)")
              continue
            }
            let (later, changed) = after(command, daemon, node)
            #expect(later.mayOpen(changed), "\(node): \(command)")
          }
        }
      }
    }
    #expect(tried > 50)
  }

  /// The command for a file with sufficient permissions, if the unit allows only `devices`.
  private func command(
    _ path: String, _ major: UInt, _ minor: UInt, _ drivers: [String], letting devices: [String]?
  ) -> String? {
    var node = Examination.Node(path: path, owner: 900, mode: 0o600)
    node.name(major: major, minor: minor, drivers: drivers)
    return command(node) { seen in
      var unit = Seen.unit()
      unit.devices = devices?.map { device in
        let words = device.split(separator: " ").map(String.init)
        return Examination.AllowedDevice(name: words[0], access: words.count > 1 ? words[1] : "")
      }
      seen.daemonUnit = .given(unit)
    }
  }

  @Test func `a device that the unit blocks is added to the unit`() {
    func command(letting devices: [String]?) -> String? {
      self.command("/dev/ttyUSB4", 188, 4, ["ttyUSB"], letting: devices)
    }
    let letting = "sudo systemctl set-property tagrouted.service 'DeviceAllow=/dev/ttyUSB4 rw'"
    for devices in [["/dev/char/188:0", "char-ttyS"], ["char-1"], ["char-18*", "char-ttyS*"], []] {
      #expect(command(letting: devices) == letting, "\(devices)")
    }
    for device in ["/dev/ttyUSB4", "/dev/char/188:4", "char-ttyUSB", "char-188", "char-tty*", "char-*"] {
      #expect(command(letting: [device]) == nil, "\(device)")
    }
    #expect(command(letting: nil) == nil)
    // The kernel looks for one entry that allows both reading and writing.
    for devices in [["/dev/ttyUSB4 r"], ["char-ttyUSB w"], ["char-ttyUSB rm", "char-188 wm"]] {
      #expect(command(letting: devices) == letting, "\(devices)")
    }
    for device in ["/dev/ttyUSB4 rw", "char-ttyUSB rwm", "char-188 wr"] {
      #expect(command(letting: ["char-* r", device]) == nil, "\(device)")
    }
  }

  @Test func `the shipped unit allows every kind of reader, by name and by number`() throws {
    let unit = try String(
      contentsOf: URL(filePath: repositoryRoot)
        .appending(path: "Config/systemd/system/tagrouted.service"), encoding: .utf8)
    let devices = unit.split(separator: "\n").compactMap { line -> String? in
      guard line.hasPrefix("DeviceAllow=") else { return nil }
      return String(line.dropFirst("DeviceAllow=".count))
    }
    #expect(devices.count > 4)
    let nodes: [(String, UInt, UInt, [String])] = [
      ("/dev/bus/usb/001/004", 189, 3, ["usb_device"]), ("/dev/ttyS0", 4, 64, ["/dev/vc/0", "tty", "ttyS"]),
      ("/dev/ttyUSB0", 188, 0, ["ttyUSB"]), ("/dev/ttyACM0", 166, 0, ["ttyACM"]), ("/dev/i2c-1", 89, 1, ["i2c"]),
      ("/dev/spidev0.0", 153, 0, ["spi"]),
    ]
    for (path, major, minor, drivers) in nodes {
      #expect(command(path, major, minor, drivers, letting: devices) == nil, "\(path)")
    }
    #expect(command("/dev/sda", 8, 0, ["sd"], letting: devices) != nil)
  }

  @Test func `the kernel module is blacklisted unless a file does that already`() {
    func command(isKeptOff: Bool) -> String? {
      Seen.wrong {
        $0.hasKernelModule = true
        $0.isKernelModuleKeptOff = isKeptOff
      }.first?.remedy?.command
    }
    #expect(command(isKeptOff: true) == "sudo modprobe -r pn533_usb")
    #expect(
      command(isKeptOff: false)
        == #"sudo modprobe -r pn533_usb && printf '\nblacklist pn533_usb\n' | sudo tee --append /etc/modprobe.d/tagroute.conf"#
    )
  }

  @Test func `a module file of the administrator is reported if it does not blacklist the module`() {
    func notes(isKeptOff: Bool, isLoaded: Bool) -> [Finding] {
      Seen.findings {
        ($0.hasOwnModuleFile, $0.isKernelModuleKeptOff, $0.hasKernelModule) = (true, isKeptOff, isLoaded)
      }.filter { $0.subject == .kernelModule && $0.verdict == .note }
    }
    for isLoaded in [true, false] {
      #expect(notes(isKeptOff: true, isLoaded: isLoaded).isEmpty)
      #expect(
        notes(isKeptOff: false, isLoaded: isLoaded).first?.text.hasPrefix("/etc/modprobe.d/tagroute.conf replaces")
          == true)
    }
  }

  @Test func `a blacklist line keeps a module from loading and a comment does not`() throws {
    let directory = try TemporaryDirectory()
    let files = ExaminedFiles([:])
    _ = try directory.write("# blacklist pn533_usb\nblacklist pn533\n", to: "etc/a.conf")
    #expect(!files.isKeptOff("pn533_usb", folders: [directory.file("etc"), directory.file("usr")]))
    for name in ["pn533_usb", "pn533-usb"] {
      _ = try directory.write("blacklist\t\(name)\n", to: "usr/b.conf")
      #expect(files.isKeptOff("pn533_usb", folders: [directory.file("etc"), directory.file("usr")]))
    }
    // A file of the same name in a folder with precedence replaces it.
    _ = try directory.write("", to: "etc/b.conf")
    #expect(!files.isKeptOff("pn533_usb", folders: [directory.file("etc"), directory.file("usr")]))
  }

  @Test func `the file behind a connection string is found as libnfc finds it`() throws {
    let directory = try TemporaryDirectory()
    _ = try directory.write("", to: "dev/bus/usb/001/004")
    chmod(directory.file("dev/bus/usb/001/004"), 0o640)
    let files = ExaminedFiles(["TAGROUTE_DEV": directory.file("dev")])
    let usb = files.node(of: "acr122_usb:001:004")
    #expect(usb?.path == directory.file("dev/bus/usb/001/004"))
    #expect(usb?.isUSB == true && usb?.isThere == true && usb?.mode == 0o640 && usb?.owner == getuid())
    #expect(files.node(of: "pn532_uart:/dev/nobody:115200")?.isThere == false)
    #expect(files.node(of: "pn532_uart:/dev/null")?.names.isSuperset(of: ["/dev/char/1:3", "char-1"]) == true)
    for device in ["", "pn53x_usb", "acr122_usb:001", "acr122_usb:../..:004"] { #expect(files.node(of: device) == nil) }
  }

  @Test func `moving or copying a configuration into place counts as a change at that time`() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("", to: "tagroute.conf")
    let old = timespec(tv_sec: 1, tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, file, [old, old], 0) == 0)
    let changed = ExaminedFiles([:]).daemonConfiguration(arguments: ["tagrouted", "--config", file]).changed
    #expect(changed.map { $0 > 1_000_000 } == true)
  }

  @Test func `removing a configuration counts as a change unless the folder changed later`() throws {
    let directory = try TemporaryDirectory()
    let files = ExaminedFiles(["XDG_CONFIG_HOME": directory.file("")])
    let folder = directory.file("tagroute")
    func removed() -> UInt64? { files.agentConfiguration(arguments: nil)?.removed }
    // The folder has never existed.
    #expect(removed() == nil)
    let file = try directory.write("", to: "tagroute/agent.conf")
    #expect(removed() == nil)
    #expect(unlink(file) == 0)
    var status = stat()
    #expect(stat(folder, &status) == 0)
    let time = UInt64(status.st_ctim.tv_sec) * 1_000_000 + UInt64(status.st_ctim.tv_nsec / 1000)
    #expect(removed() == time)
    // A file that the command line names has to exist, which is a separate error.
    #expect(files.agentConfiguration(arguments: ["tagroute-agent", "--config", file])?.removed == nil)
    // The agent stores the user's choices in this file. It is not part of the configuration.
    _ = try directory.write("", to: "tagroute/handlers.conf")
    #expect(removed() == nil)
  }

  @Test func `the configuration on the command line is found as both programs find it`() {
    #expect(ExaminedFiles.configuration(["tagrouted", "--config", "/a"]) == "/a")
    #expect(ExaminedFiles.configuration(["tagrouted", "--config=/a", "--config", "/b"]) == "/b")
    for arguments in [[], ["tagrouted"], ["tagrouted", "--config"]] {
      #expect(ExaminedFiles.configuration(arguments) == nil)
    }
  }
}

/// What `tagroute doctor` reports if the dynamic linker cannot load `tagroute-reader`, and which packages of the
/// distribution it names.
@Suite struct DiagnosisLibraryTests {
  private static let program = "/usr/libexec/tagroute-reader"
  private static let missing = "cannot open shared object file: No such file or directory"
  private static func loading(_ library: String, _ problem: String = missing) -> String {
    "\(program): error while loading shared libraries: \(library): \(problem)"
  }

  private func remedy(_ line: String, on release: String) -> Remedy? {
    Seen.wrong {
      $0.setup = Setup(folder: "/usr/bin", hasDaemon: true, release: "ID=\(release)\n")
      $0.readerProgram = .isNotLinked(line)
    }.first { $0.subject == .reader }?.remedy
  }

  static let packages: [(library: String, apt: String, dnf: String, pacman: String)] = [
    ("libpcsclite.so.1", "libpcsclite1", "pcsc-lite-libs", "pcsclite"),
    ("libnfc.so.6", "libnfc6", "libnfc", "libnfc"),
    ("libseccomp.so.2", "libseccomp2", "libseccomp", "libseccomp"),
    ("libusb-0.1.so.4", "libusb-0.1-4", "libusb-compat-0.1", "libusb-compat"),
    ("libusb-1.0.so.0", "libusb-1.0-0", "libusb1", "libusb"),
  ]

  @Test(arguments: packages) func `the remedy for a missing library installs or reinstalls its package`(
    library: String, apt: String, dnf: String, pacman: String
  ) {
    for line in [Self.loading(library), Self.loading("/lib/x86_64-linux-gnu/\(library)", "file too short")] {
      #expect(remedy(line, on: "debian")?.command == "sudo apt-get install --reinstall \(apt)")
      #expect(remedy(line, on: "fedora")?.command == "sudo dnf reinstall \(dnf) || sudo dnf install \(dnf)")
      #expect(remedy(line, on: "arch")?.command == "sudo pacman --sync \(pacman)")
      #expect(remedy(line, on: "nobodys")?.text.contains(library) == true)
    }
  }

  @Test(arguments: [
    loading("libswiftCore.so"), loading("libnfcfake.so.1"), loading("libc.so.6"), loading(""),
    "\(program): symbol lookup error: \(program): undefined symbol: nfc_init",
    "\(program): symbol lookup error: /lib/x86_64-linux-gnu/libnfc.so.6: undefined symbol: usb_init",
    "a library is missing", "libnfc.so.6: not found",
  ])
  func `the remedy for any other library or a missing symbol reinstalls Tagroute`(line: String) {
    #expect(remedy(line, on: "debian")?.command == "sudo apt-get install --reinstall tagroute")
  }

  @Test func `the message of the linker is quoted`() {
    let findings = Seen.wrong { $0.readerProgram = .isNotLinked(Self.loading("libnfc.so.6")) }
    #expect(
      findings.first?.text
        == "tagroute-reader, which opens readers, does not start (\(Self.loading("libnfc.so.6")))")
  }

  @Test func `the remedy for airplane mode names the package of rfkill and the other ways`() {
    func remedy(_ release: String) -> Remedy {
      Setup(folder: nil, hasDaemon: true, release: "ID=\(release)\n").endingAirplaneMode
    }
    for (release, package) in [
      ("debian", "rfkill"), ("fedora", "util-linux"), ("arch", "util-linux"), ("nobodys", "rfkill or util-linux"),
    ] {
      #expect(remedy(release).command == "sudo rfkill unblock all")
      #expect(
        remedy(release).advice
          == "from the package \(package); or turn it off in the desktop's settings or with the hardware switch")
    }
  }
}
