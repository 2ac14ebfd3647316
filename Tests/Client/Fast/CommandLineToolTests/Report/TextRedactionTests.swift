import Testing

@testable import CommandLineTool

@Suite struct TextRedactionTests {
  private let redaction = TextRedaction(
    users: ["ada", "bob"], home: "/home/ada", host: "desk.example.org", identifiers: [[0x12, 0x34, 0x56, 0x78]])

  @Test(arguments: [
    ("/home/ada/.config/tagroute", "~/.config/tagroute"), ("user ada and bob.", "user USER and USER."),
    ("adapter of bobby, ada_2", "adapter of bobby, ada_2"), ("on desk.example.org: desk", "on HOST: HOST"),
    ("UID 04A2B3C4D5E680 is read", "UID UID is read"), ("04-A2-B3-C4-D5-E6-80", "UID"), ("04:A2:B3:C4", "UID"),
    ("E0040150ABCDEF12,", "UID,"), ("12345678", "UID"), ("87654321 bytes", "87654321 bytes"),
    ("072F:2200 and 072f:2200", "072F:2200 and 072f:2200"), ("2026-11-29T15:49:44+0000", "2026-11-29T15:49:44+0000"),
    ("version 1.2.3-4", "version 1.2.3-4"), ("3B8F8001804F0CA000000306030003", "3B8F8001804F0CA000000306030003"),
    ("", ""),
  ])
  func `names and identifiers are replaced`(text: String, expected: String) {
    #expect(redaction.redact(text) == expected)
  }
}
