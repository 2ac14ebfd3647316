import Testing

@testable import Settings

@Suite struct KeyFileSchemaTests {
  private let schema = KeyFileSchema(["Reader": ["Devices", "PollInterval"], "Scan": ["Sessions", "WhenLocked"]])

  private func mistake(_ text: String) throws -> String {
    let file = try KeyFile(bytes: Array(text.utf8), file: "t.conf")
    return try #require(#expect(throws: KeyFileError.self) { try schema.check(file) }).description
  }

  @Test func `known groups and keys pass`() throws {
    let text = "[Scan]\nSessions=any\n[Reader]\nPollInterval=1\nDevices=\n"
    try schema.check(KeyFile(bytes: Array(text.utf8), file: "t.conf"))
  }

  @Test(arguments: [
    ("[Scan]\nSesions=any\n", "t.conf:2: group [Scan] has no key Sesions: did you mean Sessions?"),
    ("[Scan]\n\nwhenlocked=hold\n", "t.conf:3: group [Scan] has no key whenlocked: did you mean WhenLocked?"),
    ("[Scan]\nDevices=\n", "t.conf:2: group [Scan] has no key Devices: move it below [Reader]"),
    ("[Scan]\nColour=red\n", "t.conf:2: group [Scan] has no key Colour: the known ones are Sessions, WhenLocked"),
    ("[Raeder]\nDevices=\n", "t.conf:1: there is no group [Raeder]: did you mean [Reader]?"),
    ("\n[Notifications]\n", "t.conf:2: there is no group [Notifications]: the known ones are [Reader], [Scan]"),
  ])
  func `an unknown group or key is an error that suggests known ones`(text: String, expected: String) throws {
    #expect(try mistake(text) == expected)
  }

  @Test func `edit distances count a swap of two letters as one change`() {
    #expect(editDistance("", "") == 0)
    #expect(editDistance("abc", "") == 3)
    #expect(editDistance("Reader", "Raeder") == 1)
    #expect(editDistance("kitten", "sitting") == 3)
    #expect(editDistance(String(repeating: "a", count: 1000), "b") == 1000)
  }
}
