import Rig
import Testing

@testable import Settings

/// What an edit changes in a file that a person has written.
struct KeyFileLinesTests {
  private static let written = """
    # Mine
    [Links]
    # Schemes: a list, such as Schemes=http
    #Schemes=http;https
      SmartPosters = no
    Unknown=kept

    # The next group
    [Inbox]
    #Inbox=on

    #MaximumTaps=500
    # The end
    """

  @Test(
    arguments: [
      // In the place of the disabled entry.
      (.set(group: "Links", key: "Schemes", to: "tel"), "#Schemes=http;https\n", "Schemes=tel\n"),
      (.set(group: "Inbox", key: "MaximumTaps", to: "1"), "#MaximumTaps=500\n", "MaximumTaps=1\n"),
      // In the place of the former value.
      (.set(group: "Links", key: "SmartPosters", to: "yes"), "  SmartPosters = no\n", "SmartPosters=yes\n"),
      // Below the last entry of the group.
      (.set(group: "Links", key: "Verify", to: "on"), "Unknown=kept\n", "Unknown=kept\nVerify=on\n"),
      (.set(group: "Inbox", key: "Schemes", to: "a"), "#MaximumTaps=500\n", "#MaximumTaps=500\nSchemes=a\n"),
      (.set(group: "Scan", key: "A", to: "1"), "# The end", "# The end\n\n[Scan]\nA=1\n"),
      (.setList(group: "Links", key: "Unknown", to: [" a;", #"\"#]), "Unknown=kept", #"Unknown=\sa\;;\\;"#),
      (.reset(group: "Links", key: "SmartPosters", to: "yes"), "  SmartPosters = no\n", "#SmartPosters=yes\n"),
      (.reset(group: "Links", key: "Schemes", to: "x"), "", ""),
      (.reset(group: "Nowhere", key: "Schemes", to: "x"), "", ""),
      (.remove(group: "Links", key: "Unknown"), "Unknown=kept\n", ""),
      (.remove(group: "Links", key: "Schemes"), "", ""),
      (
        .removeGroup("Links"),
        "[Links]\n# Schemes: a list, such as Schemes=http\n#Schemes=http;https\n  SmartPosters = no\nUnknown=kept\n\n",
        ""
      ),
    ] as [(KeyFileEdit, String, String)])
  func `an edit changes its own lines, and keeps every other byte`(edit: KeyFileEdit, old: String, new: String) {
    #expect(edited(Self.written, edit) == (old.isEmpty ? Self.written : Self.written.replacing(old, with: new)))
  }

  private func edited(_ text: String, _ edits: KeyFileEdit...) -> String {
    var lines = KeyFileLines(Array(text.utf8))
    for edit in edits { lines.apply(edit) }
    return String(decoding: lines.bytes, as: UTF8.self)
  }

  @Test func `a key that was set and reset leaves the file as it was`() {
    for (group, key, value) in [("Links", "Schemes", "http;https"), ("Inbox", "MaximumTaps", "500")] {
      let text = edited(
        Self.written, .set(group: group, key: key, to: "1"), .set(group: group, key: key, to: "2"),
        .reset(group: group, key: key, to: value))
      #expect(text == Self.written)
    }
    // The comment with the default is beside the key.
    let own = "[Inbox]\n#Inbox=on\nInbox=off\n"
    #expect(edited(own, .reset(group: "Inbox", key: "Inbox", to: "on")) == "[Inbox]\n#Inbox=on\n")
  }

  @Test func `of a group and a key that a file has twice, the last one is changed`() {
    let text = "[a]\nx=1\nx=2\n[b]\nx=1\n[a]\nx=3\n"
    #expect(edited(text, .set(group: "a", key: "x", to: "4")) == "[a]\n[b]\nx=1\n[a]\nx=4\n")
    #expect(edited(text, .reset(group: "a", key: "x", to: "0")) == "[a]\n[b]\nx=1\n[a]\n#x=0\n")
    #expect(edited(text, .removeGroup("a")) == "[b]\nx=1\n")
    #expect(edited(text, .removeGroup("a"), .removeGroup("b")) == "")
  }

  @Test func `an empty file gets the group and the key`() {
    #expect(edited("", .set(group: "a", key: "x", to: "1"), .set(group: "a", key: "y", to: "2")) == "[a]\nx=1\ny=2\n")
    #expect(edited("[a]", .set(group: "a", key: "x", to: "1")) == "[a]\nx=1")
    #expect(edited("[a]\r\nx=1\r\n", .set(group: "a", key: "y", to: "2")) == "[a]\r\nx=1\r\ny=2\n")
  }

  @Test func `a check of the result refuses an edit with the line of the present file`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("[a]\n[b]\nx=wrong\n", to: "a.conf")
    let check: (KeyFile) throws(KeyFileError) -> Void = { file throws(KeyFileError) in
      for (group, key) in [("a", "x"), ("b", "x")] {
        if let entry = file.entry(group, key), entry.raw == "wrong" { throw file.mistake(entry, "is wrong", "fix it") }
      }
    }
    func edit(_ edits: KeyFileEdit...) throws { try KeyFile.edit(path, edits, mode: 0o600, check: check) }
    let error = #expect(throws: KeyFileError.self) { try edit(.set(group: "a", key: "y", to: "1")) }
    #expect(error?.line == 3)
    #expect(try String(decoding: readFile(path), as: UTF8.self) == "[a]\n[b]\nx=wrong\n")
    // An edit may fix the mistake, and may not make one.
    try edit(.set(group: "b", key: "x", to: "right"))
    #expect(throws: KeyFileError.self) { try edit(.set(group: "a", key: "x", to: "wrong")) }
    #expect(try String(decoding: readFile(path), as: UTF8.self) == "[a]\n[b]\nx=right\n")
  }
}
