import Names
import ReaderModels
import Settings
import Testing

@testable import Doctor
@testable import TagrouteClient

struct DiagnosisPCSCTests {
  private static let name = "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00"
  private static let ccid = ReaderDriver(
    bundle: "ifd-ccid.bundle",
    propertyList: """
      <key>CFBundleShortVersionString</key><string>1.5.2</string>
      <key>ifdVendorID</key><array><string>0x072F</string></array>
      <key>ifdProductID</key><array><string>0x223B</string></array>
      <key>ifdFriendlyName</key><array><string>ACS ACR1252 Dual Reader</string></array>
      """)
  private static let reader = Examination.PluggedInReader(
    vendor: 0x072F, product: 0x223B, title: "ACS ACR1252U", place: "001:005",
    node: Examination.Node(path: "/dev/bus/usb/001/005", isUSB: true, group: 990, groupName: "pcscd", mode: 0o660))

  /// A machine with everything that an ACR1252U needs, and a daemon that does not list it.
  private static func unlisted(_ seen: inout Examination) {
    seen.pcsc = Examination.PCSC()
    seen.pcsc.isInstalled = true
    seen.pcsc.hasSocket = true
    seen.pcsc.drivers = [ccid]
    seen.pcsc.readers = [reader]
    seen.configuration.backend = .auto
    seen.configuration.namesReaders = false
    list([], &seen)
  }

  private static func list(_ devices: [String], state: String = "scanning", _ seen: inout Examination) {
    seen.daemon = .given(
      DaemonStatus(
        version: "0.1.0", enabled: true, scanning: true, suspendReasons: [],
        readers: devices.enumerated().map { index, device in
          ReaderStatus(
            path: "/r\(index)", name: device, device: device, seat: "seat0", state: state,
            stateReason: state == "failed" ? "it says why" : "")
        }))
  }

  private func finding(_ change: (inout Examination) -> Void = { _ in }) -> Finding? {
    let findings = Seen.findings {
      Self.unlisted(&$0)
      change(&$0)
    }.filter { [.pcscd, .reader].contains($0.subject) }
    #expect(findings.count <= 1, "\(findings)")
    return findings.first
  }

  @Test func `a reader that the daemon lists is no problem`() {
    let findings = Seen.findings {
      Self.unlisted(&$0)
      Self.list(["pcsc:\(Self.name)"], &$0)
    }
    #expect(findings.allSatisfy { $0.verdict == .right || $0.subject == .handlers }, "\(findings)")
    #expect(findings.contains(.right(.pcscd, "pcscd drives 1 reader for Tagroute")))
    // The same device, used through libnfc.
    #expect(
      Seen.wrong { seen in
        Self.unlisted(&seen)
        seen.pcsc.isInstalled = false
        Self.list(["acr122_usb:001:005"], &seen)
      }.isEmpty)
  }

  @Test func `of two readers of a model the one that is not listed is reported`() {
    let findings = Seen.wrong {
      Self.unlisted(&$0)
      $0.pcsc.readers.append(Self.reader)
      $0.pcsc.readers[1].place = "001:006"
      Self.list(["pcsc:\(Self.name)"], &$0)
    }
    #expect(findings.map(\.subject) == [.pcscd])
  }

  @Test(arguments: [
    ("debian", "sudo apt-get install pcscd"), ("fedora", "sudo dnf install pcsc-lite pcsc-lite-ccid"),
    ("arch", "sudo pacman --sync pcsclite ccid"),
  ])
  func `without pcscd the remedy installs it`(release: String, command: String) {
    let found = finding {
      $0.setup = Setup(folder: "/usr/bin", hasDaemon: true, release: "ID=\(release)\n")
      $0.pcsc.isInstalled = false
      $0.pcsc.hasSocket = false
    }
    #expect(found?.text == "ACS ACR1252U (072f:223b) needs pcscd, which is not installed")
    #expect(found?.remedy?.command == command)
  }

  @Test func `a pcscd that does not run is started`() {
    func command(_ socket: Examination.Unit?, hasSystemd: Bool = true) -> Remedy? {
      finding {
        $0.pcsc.hasSocket = false
        $0.pcsc.socket = socket
        $0.setup.hasSystemd = hasSystemd
      }?.remedy
    }
    let enable = "sudo systemctl enable --now pcscd.socket"
    #expect(command(Seen.unit(active: "inactive", sub: "dead"))?.command == enable)
    #expect(
      command(Seen.unit(load: "masked", active: "inactive", file: "masked"))?.command
        == "sudo systemctl unmask pcscd.socket pcscd.service && \(enable)")
    #expect(command(nil, hasSystemd: false) == .advise("start pcscd with your service manager"))
  }

  @Test func `a model that no driver knows is reported with its id`() {
    let none = finding { $0.pcsc.drivers = [] }
    #expect(none?.text == "pcscd has no driver for ACS ACR1252U (072f:223b)")
    #expect(none?.remedy?.command == "sudo apt-get install libccid")
    let unknown = finding { $0.pcsc.readers[0].product = 0x9999 }
    #expect(unknown?.text == "no driver of pcscd knows ACS ACR1252U (072f:9999)")
    #expect(unknown?.remedy?.command == nil)
  }

  @Test(arguments: [UInt16(0x2303), 0x2308]) func `a driver that is too old for an ACR1552U is reported`(
    product: UInt16
  ) {
    let found = finding {
      $0.pcsc.readers[0].title = "ACS ACR1552U"
      $0.pcsc.readers[0].product = product
    }
    #expect(found?.text.hasPrefix("pcscd's driver libccid 1.5.2 is too old for ACS ACR1552U") == true)
    #expect(found?.text.hasSuffix("which needs 1.5.3") == true)
  }

  @Test func `scdaemon with the reader gets the line that makes it use pcscd`() {
    let found = finding { $0.pcsc.readers[0].holder = .init(program: "scdaemon", process: 4711) }
    #expect(found?.text.hasPrefix("GnuPG's scdaemon has opened ACS ACR1252U (072f:223b)") == true)
    #expect(
      found?.remedy?.command
        == #"printf 'disable-ccid\n' >>~/.gnupg/scdaemon.conf && gpgconf --kill scdaemon"#)
    let other = finding { $0.pcsc.readers[0].holder = .init(program: "reader-tool", process: 4711) }
    #expect(other?.text.hasPrefix("reader-tool (process 4711) has opened") == true)
    // pcscd of this user, in a container for example.
    let pcscd = finding { $0.pcsc.readers[0].holder = .init(program: "pcscd", process: 4711) }
    #expect(pcscd?.text == "pcscd does not list ACS ACR1252U (072f:223b)")
  }

  @Test func `a pcscd that may not open the reader is reported`() {
    let pcscd = Examination.Credentials(user: 989, userName: "pcscd", groupName: "pcscd", groups: [990])
    #expect(finding { $0.pcsc.credentials = pcscd }?.text == "pcscd does not list ACS ACR1252U (072f:223b)")
    let roots = finding {
      $0.pcsc.credentials = pcscd
      ($0.pcsc.readers[0].node.group, $0.pcsc.readers[0].node.groupName) = (0, "root")
    }
    #expect(roots?.text.hasPrefix("pcscd, which runs as pcscd, may not open /dev/bus/usb/001/005") == true)
    #expect(roots?.remedy?.text.contains("libccid") == true)
    let ours = finding {
      $0.pcsc.credentials = pcscd
      ($0.pcsc.readers[0].node.group, $0.pcsc.readers[0].node.groupName) = (900, "tagroute")
    }
    #expect(ours?.remedy?.command == "sudo systemctl restart pcscd.service")
  }

  @Test func `missing rules for polkit are reported if pcscd asks polkit`() {
    func text(_ file: Examination.PCSC.RulesFile, asks: Bool) -> String? {
      finding {
        $0.pcsc.asksPolkit = asks
        $0.pcsc.rulesFile = file
      }?.text
    }
    let unknown = "pcscd does not list ACS ACR1252U (072f:223b)"
    #expect(text(.isMissing, asks: true)?.hasPrefix("polkit does not let tagrouted use pcscd") == true)
    #expect(text(.isMissing, asks: false) == unknown)
    for file in [Examination.PCSC.RulesFile.isThere, .isHidden] { #expect(text(file, asks: true) == unknown) }
  }

  @Test func `a reader that the daemon cannot use gets the command of this system`() {
    func failed(_ change: (inout Examination) -> Void) -> [Finding] {
      Seen.wrong {
        Self.unlisted(&$0)
        Self.list(["usb:001:005"], state: "failed", &$0)
        change(&$0)
      }
    }
    let refused = failed { ($0.pcsc.asksPolkit, $0.pcsc.rulesFile) = (true, .isMissing) }
    #expect(refused.map(\.subject) == [.pcscd])
    #expect(refused.first?.remedy?.command == "sudo apt-get install --reinstall tagroute")
    #expect(failed { $0.pcsc.isInstalled = false }.first?.remedy?.command == "sudo apt-get install pcscd")
    // The daemon's own reason is enough.
    #expect(failed { _ in }.map(\.subject) == [.reader])
  }

  @Test func `a reader whose name no driver gives may be any of those that are plugged in`() {
    #expect(
      Seen.wrong {
        Self.unlisted(&$0)
        $0.pcsc.drivers = []
        Self.list(["pcsc:Renamed Reader 00 00"], &$0)
      }.isEmpty)
  }

  @Test func `hidden processes are reported unless pcscd is root`() {
    func text(_ user: UInt32?) -> String? {
      finding {
        $0.pcsc.asksPolkit = true
        $0.pcsc.rulesFile = .isThere
        $0.pcsc.hidesProcesses = true
        $0.pcsc.credentials = user.map { .init(user: $0, userName: "x", groupName: "x", groups: [990]) }
      }?.text
    }
    for user: UInt32? in [nil, 989] { #expect(text(user)?.hasPrefix("/proc hides processes (hidepid)") == true) }
    #expect(text(0)?.hasPrefix("pcscd does not list") == true)
    for (line, hides) in [
      ("proc /proc proc rw,nosuid,hidepid=2 0 0", true), ("proc /proc proc rw,hidepid=invisible,gid=5 0 0", true),
      ("proc /proc proc rw,hidepid=0 0 0", false), ("proc /proc proc rw 0 0", false),
      ("proc /mnt/proc proc rw,hidepid=2 0 0", false), ("", false),
    ] {
      #expect(ExaminedFiles.hidesProcesses("sysfs /sys sysfs rw 0 0\n\(line)\n") == hides, "\(line)")
    }
  }

  @Test func `a claimed reader without a running pcscd belongs to another program`() {
    let found = finding { $0.pcsc.readers[0].interfaceDrivers = ["usbfs"] }
    #expect(found?.text == "another program has opened ACS ACR1252U (072f:223b)")
    #expect(found?.remedy?.command == "sudo fuser --verbose /dev/bus/usb/001/005")
    let running = finding {
      $0.pcsc.readers[0].interfaceDrivers = ["usbfs"]
      $0.pcsc.credentials = .init(user: 0, userName: "root", groupName: "root", groups: [0])
    }
    #expect(running?.text == "pcscd does not list ACS ACR1252U (072f:223b)")
  }

  @Test func `the kernel module that holds a reader is reported once`() {
    let findings = Seen.wrong {
      Self.unlisted(&$0)
      $0.hasKernelModule = true
      $0.pcsc.readers[0].interfaceDrivers = ["pn533_usb"]
    }
    #expect(findings.map(\.subject) == [.kernelModule, .reader])
  }

  @Test func `a reader that the configuration leaves out is a note`() {
    let notes = Seen.findings {
      Self.unlisted(&$0)
      $0.configuration.backend = .libnfc
    }.filter { $0.verdict == .note && [.pcscd, .reader].contains($0.subject) }
    #expect(notes.map(\.subject) == [.pcscd, .reader])
    let named = finding { $0.configuration.namesReaders = true }
    #expect(named?.verdict == .note)
    #expect(named?.text.hasSuffix("Devices= in /etc/tagroute.conf does not name it") == true)
  }

  @Test func `pcscd is a rival of libnfc only if the configuration excludes it`() {
    for (backend, count) in [(nil, 0), (.auto, 0), (.pcsc, 0), (.libnfc, 1)] as [(Configured, Int)] {
      let notes = Seen.findings {
        $0.pcsc.hasSocket = true
        $0.configuration.backend = backend
      }.filter { $0.subject == .pcscd }
      #expect(notes.count == count, "\(String(describing: backend))")
      #expect(notes.allSatisfy { $0.verdict == .note && $0.remedy?.command?.contains("disable --now pcscd") == true })
    }
  }

  private typealias Configured = Examination.Settings.Backend?

  @Test func `a reader that waits for another program is a note`() {
    let notes = Seen.findings {
      var waiting = Seen.reader
      waiting.stateReason = "another program has the card"
      $0.daemon = .given(
        DaemonStatus(version: "0.1.0", enabled: true, scanning: true, suspendReasons: [], readers: [waiting]))
    }.filter { $0.subject == .reader }
    #expect(
      notes == [
        .note(.reader, "ACR122U (acr122_usb:001:004) on seat0 is scanning; another program has the card")
      ])
  }

  @Test func `a reader that reports a card that is not there is wrong`() {
    let findings = Seen.findings {
      var stuck = Seen.reader
      stuck.stateReason = ReaderRemedy.stuck
      $0.daemon = .given(
        DaemonStatus(version: "0.1.0", enabled: true, scanning: true, suspendReasons: [], readers: [stuck]))
    }.filter { $0.subject == .reader }
    #expect(
      findings == [
        .wrong(.reader, "ACR122U (acr122_usb:001:004) on seat0 is scanning", .advise(ReaderRemedy.stuck))
      ])
  }
}
