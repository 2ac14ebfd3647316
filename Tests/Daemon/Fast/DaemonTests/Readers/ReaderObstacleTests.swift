import ReaderProtocol
import Settings
import Testing

@testable import Daemon

@Suite struct ReaderObstacleTests {
  private static func obstacle(
    _ drivers: [String], pcscdRuns: Bool = false, mayOpen: Bool = true
  ) -> ReaderObstacle? {
    ReaderObstacle(Samples.acr122(drivers: drivers), pcscdRuns: pcscdRuns, mayOpen: mayOpen)
  }

  @Test func `the obstacle of a reader is named`() {
    #expect(Self.obstacle([]) == nil)
    #expect(Self.obstacle([], pcscdRuns: true) == nil)
    #expect(Self.obstacle(["pn533_usb"]) == .kernelDriver("pn533_usb"))
    #expect(Self.obstacle(["pn533_usb", "usbfs"], pcscdRuns: true) == .kernelDriver("pn533_usb"))
    #expect(Self.obstacle(["usbfs"]) == .program(isPCSCD: false))
    #expect(Self.obstacle(["usbfs"], pcscdRuns: true) == .program(isPCSCD: true))
    #expect(Self.obstacle([], mayOpen: false) == .permission(node: "/dev/bus/usb/001/004"))
    let tty = Device(path: "/sys/devices/tty", subsystem: "tty", node: "/dev/ttyUSB0")
    #expect(ReaderObstacle(tty, pcscdRuns: true, mayOpen: false) == nil)
  }

  @Test func `every reason says what to do`() {
    #expect(
      ReaderObstacle.kernelDriver("pn533_usb").reason(hasSystemd: true)
        == "it is taken by the kernel module pn533_usb: sudo modprobe -r pn533_usb, and blacklist it in /etc/modprobe.d"
    )
    let probably = "probably pcscd: sudo systemctl disable --now pcscd.socket"
    #expect(ReaderObstacle.program(isPCSCD: true).reason(hasSystemd: true).contains(probably))
    let ending = "probably pcscd: stop that program, or use the reader through pcscd, with Backend=auto "
    #expect(ReaderObstacle.program(isPCSCD: true).reason(hasSystemd: false).contains(ending))
    let other = ReaderObstacle.program(isPCSCD: false).reason(hasSystemd: true)
    #expect(other.contains("another program: stop that program"))
    let permission = ReaderObstacle.permission(node: "/dev/x").reason(hasSystemd: true)
    #expect(permission.hasPrefix("no permission for /dev/x: sudo udevadm control --reload && sudo udevadm trigger "))
    #expect(permission.contains("gives it to the group tagroute"))
  }
}

/// Contactless readers that are plugged in and that no program can drive: each is shown with a remedy.
@Suite struct UndrivenReaderTests {
  /// The reason of the only reader, which is refused.
  private static func reason(_ roster: ReaderRoster) -> String? {
    guard roster.readers.count == 1, case .undriven(let reason)? = roster.readers.values.first?.refusal else {
      return nil
    }
    return reason
  }

  @Test func `a reader without pcscd is shown, and replaced once pcscd has it`() throws {
    var roster = ReaderRoster(configured: [], support: .none, hasUdev: true)
    let actions = roster.handle(.device(.present([PCSCSamples.acr1252(seat: "seat1")])))
    let reason = try #require(Self.reason(roster))
    #expect(actions == [.show(0, device: "usb:001:005", seat: "seat1"), .refuse(0, reason: reason)])
    #expect(reason.contains("sudo apt install pcscd") && reason.contains("systemctl enable --now pcscd.socket"))
    roster.handle(.configured([], .auto, PCSCSamples.support), expecting: [.hide(0), .stop(0)])
    roster.handle(
      .pcscReaders(PCSCSamples.slots(at: 5)), expecting: PCSCSamples.appears(1, PCSCSamples.picc, seat: "seat1"))
  }

  @Test func `a reader that pcscd does not list is shown after a while, until it is listed`() throws {
    var roster = PCSCSamples.roster(PCSCSamples.acr1252())
    #expect(roster.awaited == ["list", "/sys/devices/b"])
    roster.handle(.pcscReaders([]), expecting: [])
    #expect(roster.awaited == ["/sys/devices/b"])
    let actions = roster.handle(.waited)
    let reason = try #require(Self.reason(roster))
    #expect(actions == [.show(0, device: "usb:001:005", seat: "seat0"), .refuse(0, reason: reason)])
    #expect(reason.contains("scdaemon") && reason.contains("plug the reader in again"))
    #expect(roster.awaited.isEmpty)
    roster.handle(
      .pcscReaders(PCSCSamples.slots(at: 5)),
      expecting: [.hide(0), .stop(0)] + PCSCSamples.appears(1, PCSCSamples.picc))
  }

  @Test func `a hanging pcscd is a reason, too`() throws {
    var roster = PCSCSamples.roster(PCSCSamples.acr1252())
    _ = roster.handle(.waited)
    #expect(try #require(Self.reason(roster)).contains("pcscd does not show"))
    #expect(roster.awaited.isEmpty)
  }

  @Test func `a reader that goes is awaited anew when it returns`() {
    var roster = PCSCSamples.roster(PCSCSamples.acr1252())
    _ = roster.handle(.pcscReaders([]))
    _ = roster.handle(.waited)
    roster.handle(.device(.removed(path: "/sys/devices/b")), expecting: [.hide(0), .stop(0)])
    roster.handle(.device(.added(PCSCSamples.acr1252(number: 6))), expecting: [])
    #expect(roster.awaited == ["/sys/devices/b"])
  }

  @Test func `the kernel module that has a reader is named, and a keyboard's is not`() throws {
    for (driver, text) in [("port100", "sudo modprobe -r port100"), ("usbhid", "scdaemon"), ("usbfs", "scdaemon")] {
      let device = Samples.usb(0x072F, 0x223B, "/sys/devices/b", number: 5, drivers: [driver], classes: [0x0B])
      var roster = PCSCSamples.roster(device)
      _ = roster.handle(.pcscReaders([]))
      _ = roster.handle(.waited)
      #expect(try #require(Self.reason(roster)).contains(text))
    }
  }

  @Test(arguments: [
    (PCSCProblem(.noService, "gone"), "which does not start (gone): systemctl status pcscd.socket pcscd shows why"),
    (PCSCProblem(.refused), "polkit does not let tagrouted use pcscd: check that /usr/share/polkit-1/rules.d/tagroute"),
    (PCSCProblem(.otherVersion), "update both, and restart pcscd"), (PCSCProblem(.other, "0x8010002E"), "(0x8010002E)"),
  ])
  func `a problem of pcscd is the reason at once`(problem: PCSCProblem, text: String) throws {
    var roster = PCSCSamples.roster(PCSCSamples.acr1252())
    let actions = roster.handle(.pcscProblem(problem))
    let reason = try #require(Self.reason(roster))
    #expect(actions == [.show(0, device: "usb:001:005", seat: "seat0"), .refuse(0, reason: reason)])
    #expect(reason.contains(text), "\(reason)")
    #expect(roster.awaited.isEmpty)
    // Another problem is another reason of the same reader.
    let next = roster.handle(.pcscProblem(PCSCProblem(.other, "0x1")))
    #expect(next == [.refuse(0, reason: try #require(Self.reason(roster)))])
  }

  @Test func `the reasons depend on the drivers that are installed`() {
    let usb = Samples.usb(0x072F, 0x2303).usb
    func reason(_ obstacle: PCSCObstacle, hasSystemd: Bool = true) -> String? {
      usb.map { obstacle.reason(for: $0, title: "ACS ACR1552U", hasSystemd: hasSystemd) }
    }
    #expect(
      reason(.noDriver(hasOthers: true))
        == "ACS ACR1552U (072f:2303) needs libccid 1.5.3 or newer: update it, then plug the reader in again, or run "
        + "sudo systemctl reload tagrouted")
    #expect(reason(.noDriver(hasOthers: false))?.contains("sudo apt install libccid") == true)
    #expect(reason(.noService, hasSystemd: false)?.contains("systemctl") == false)
    #expect(reason(.noProgram)?.contains("tagroute-reader-pcsc, which is not installed") == true)
    let other = Samples.usb(0x0A5C, 0x5804).usb
    let unknown = other.map { PCSCObstacle.noDriver(hasOthers: true).reason(for: $0, title: "X", hasSystemd: true) }
    #expect(unknown?.hasPrefix("pcscd has no driver for X (0a5c:5804): update libccid") == true)
  }
}
