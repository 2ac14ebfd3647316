import Testing

@testable import CommandLineTool

@Suite struct TextRedactionTests {
  private let redaction = TextRedaction(
    users: ["ada", "bob", "Ada Byron"], home: "/home/ada", host: "desk.example.org",
    identifiers: [[0x12, 0x34, 0x56, 0x78], [0x04, 0xF0, 0xE1, 0xD2, 0xC3, 0xB4, 0xA5]],
    contents: ["menu.example.com/table", "the key is below"])

  @Test(arguments: [
    ("/home/ada/.config/tagroute", "~/.config/tagroute"), ("user ada and bob.", "user USER and USER."),
    ("for Ada Byron", "for USER"), ("adapter of bobby, ada_2", "adapter of bobby, ada_2"),
    ("on desk.example.org: desk", "on HOST: HOST"), ("version 1.2.3-4", "version 1.2.3-4"), ("", ""),
  ])
  func `names are replaced`(text: String, expected: String) { #expect(redaction.redact(text) == expected) }

  @Test(arguments: [
    ("UID 04A2B3C4D5E680 is read", "UID UID is read"), ("04-A2-B3-C4-D5-E6-80", "UID"), ("04:A2:B3:C4", "UID"),
    ("E0040150ABCDEF12,", "UID,"), ("04A2B3C4D5E680:", "UID:"), ("-04A2B3C4D5E680-", "-UID-"),
    ("uid:04A2B3C4D5E680", "uid:UID"), ("uid:04:a2:b3:c4 away", "uid:UID away"), ("04a2b3c4d5e680", "UID"),
    // Tags that were recorded.
    ("12345678", "UID"), ("12 34 56 78 9", "UID 9"), ("tag78563412end", "tagUIDend"),
    ("FFCA04f0e1d2c3b4a59000", "FFCAUID9000"), ("04 F0-e1:D2 C3 B4 A5", "UID"),
  ])
  func `identifiers are replaced`(text: String, expected: String) { #expect(redaction.redact(text) == expected) }

  @Test(arguments: [
    "87654321 bytes", "072F:2200 and 072f:2200", "2026-11-29T15:49:44+0000", "6.1.0-44-amd64", "defacade",
    "3B8F8001804F0CA000000306030003", "0x8010002E",
  ])
  func `other numbers stay`(text: String) { #expect(redaction.redact(text) == text) }

  @Test(arguments: [
    ("ACS ACR122U PICC Interface (0123456789ABCD) 00 00", "ACS ACR122U PICC Interface (SERIAL) 00 00"),
    ("pcsc:uTrust [CCID Interface] (5-3) 0A 01.", "pcsc:uTrust [CCID Interface] (SERIAL) 0A 01."),
    (
      "pn532_uart:/dev/serial/by-id/usb-FTDI_FT232R_A50285BI-if00-port0:115200 (ready)",
      "pn532_uart:/dev/serial/by-id/SERIAL:115200 (ready)"
    ), ("Reader (contactless) 7", "Reader (contactless) 7"),
  ])
  func `serial numbers of readers are replaced`(text: String, expected: String) {
    #expect(redaction.redact(text) == expected)
  }

  @Test func `lines with contents of a tag are removed`() {
    let text = "first\nopens https://menu.example.com/table/7 now\nsays the key is below the mat\nlast\n"
    #expect(redaction.redact(text) == "first\nlast\n")
  }
}
