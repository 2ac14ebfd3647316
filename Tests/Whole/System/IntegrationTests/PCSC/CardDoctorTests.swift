import Bus
import Glibc
import Names
import ReaderSimulator
import TagrouteClient
import TestKit
import Testing

/// `tagroute doctor` with the real pcscd: it is right about a reader that works, and names the first obstacle otherwise.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardDoctorTests {
  /// A driver of pcscd for the reader. Its name is that of libccid.
  private static let driver = """
    <key>CFBundleShortVersionString</key><string>1.5.2</string>
    <key>ifdVendorID</key><array><string>0x072F</string></array>
    <key>ifdProductID</key><array><string>0x223B</string></array>
    <key>ifdFriendlyName</key><array><string>ACS ACR1252 Dual Reader</string></array>
    """

  /// A desktop on which all is well, with an ACR1252U in the USB tree that doctor sees.
  private func desk(starter: String = #function) async throws -> CardDesktop {
    let desk = try await CardDesktop(starter: starter)
    _ = try await desk.desktop.startPolkit(alsoAllowing: [Names.PolkitAction.configure])
    let directory = desk.desktop.installation.directory
    for (name, value) in [("idVendor", "072f"), ("idProduct", "223b"), ("busnum", "1"), ("devnum", "5")] {
      try directory.write("\(value)\n", to: "sys/bus/usb/devices/1-1/\(name)")
    }
    try directory.write(Self.driver, to: "drivers/ifd-ccid.bundle/Contents/Info.plist")
    return desk
  }

  private func changes(_ desk: CardDesktop) -> [String: String] {
    ["TAGROUTE_PCSC_DRIVERS": desk.desktop.installation.directory.file("drivers")]
  }

  @Test func `a reader that works is right`() async throws {
    let desk = try await desk()
    try await desk.start()
    let (status, findings) = try await desk.desktop.findings(changes(desk))
    #expect(status == .exited(0))
    #expect(findings.filter { $0.verdict != "right" }.isEmpty, "\(findings)")
    #expect(findings.first { $0.subject == "pcscd" }?.text == "pcscd drives 1 reader for Tagroute")
    let reader = findings.first { $0.subject == "reader" }?.text
    let device = try #require(await desk.devices.first)
    #expect(reader?.contains(device) == true, "\(reader ?? "")")
    #expect(reader?.hasSuffix("on seat0 is scanning") == true, "\(reader ?? "")")
    // The library and the driver are among the versions.
    let versions = findings.first { $0.subject == "versions" }?.text
    #expect(
      versions?.contains("pcsc-lite 1.") == true || versions?.contains("pcsc-lite 2.") == true, "\(versions ?? "")")
    #expect(versions?.contains("ccid 1.5.2") == true, "\(versions ?? "")")
  }

  @Test func `a pcscd that was killed is reported until it runs again`() async throws {
    let desk = try await desk()
    try await desk.start()
    let daemon = try await desk.desktop.daemon
    let seen = await daemon.log().count
    await desk.pcscd.kill()
    try await desk.desktop.status { $0.readers.first?.stateReason.contains("pcscd does not run") == true }
    // The socket is still there, as if systemd could start pcscd.
    let failed = try await desk.desktop.wrong(changes(desk))
    #expect(failed["reader"]?.remedy?.contains("sudo systemctl enable --now pcscd.socket") == true, "\(failed)")
    unlink(desk.pcscd.socket)
    let stopped = try await desk.desktop.wrong(changes(desk))
    #expect(stopped["pcscd"]?.text == "ACS ACR1252U (072f:223b) needs pcscd, which is not running", "\(stopped)")

    try await desk.pcscd.restart()
    try await desk.readers.waitUntilOpen(by: desk.pcscd)
    try await daemon.line(containing: Desktop.readerReady, after: seen)
    try await desk.scanning()
    #expect(try await desk.desktop.wrong(changes(desk)).isEmpty)
  }
}
