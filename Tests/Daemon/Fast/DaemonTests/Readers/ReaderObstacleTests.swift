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
