import Testing

@testable import CommandLineTool

/// The journal of a report has lines of Tagroute's programs and of pcscd, but not those of apps, and no APDUs.
@Suite struct JournalRedactionTests {
  private static let time = "2026-11-29T15:49:44+0000"

  @Test(arguments: [
    "tagrouted[812]: reader 0 is ready", "tagroute-agent[1900]: registered with the daemon",
    "tagroute-reader-pcsc[7]: pcscd does not answer", "tagroute-mqtt[8]: connected",
    "pcscd[71]: 00000012 readerfactory.c:379:RFAddReader() Too many readers",
    "pcscd[71]: 99999999 ccid_usb.c:871:WriteUSB() write failed (1/4): LIBUSB_ERROR_NO_DEVICE",
  ])
  func `lines of Tagroute and pcscd stay`(line: String) {
    #expect(JournalRedaction.redact("\(Self.time) \(line)\n") == "\(Self.time) \(line)\n")
  }

  @Test(arguments: [
    "menu-app[1901]: opens https://menu.example.com", "tagroute-agent: no process", "-- Boot 1234 --",
    "pcscd[71]: 00000005 APDU: FF CA 00 00 00", "pcscd[71]: 00000009 SW: 90 00",
    "pcscd[71]: 00000003 commands.c:1543:CCID_Receive() 04 A2 B3 C4", "pcscd[71]: sent 04a2b3c4d5e680",
  ])
  func `other lines are removed`(line: String) { #expect(JournalRedaction.redact("\(Self.time) \(line)\n").isEmpty) }

  @Test func `further lines of a message are removed`() {
    let line = "\(Self.time) tagrouted[1]: one\n"
    #expect(JournalRedaction.redact("\(line)    two: https://menu.example.com\n") == line)
  }
}
