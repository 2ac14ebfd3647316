import Glibc
import Testing

@testable import Settings

@Suite struct KeyFileTests {
  private func read(_ text: String) throws -> KeyFile { try KeyFile(bytes: Array(text.utf8), file: "test.conf") }

  private func mistake(_ text: String, _ body: (KeyFile) throws -> Void = { _ in }) throws -> String {
    let error = #expect(throws: KeyFileError.self) { try body(read(text)) }
    return try #require(error).description
  }

  private enum Colour: String, CaseIterable { case red, green }

  @Test func `every group and entry has its line number`() throws {
    let file = try read("# top\n\n[One]\nA=1\n  B = two words \r\n\n# b\n[Two]\nA=3;4\\;5;\n[One]\nA=6")
    #expect(file.groups.map(\.name) == ["One", "Two"])
    #expect(file.groups.map(\.line) == [3, 8])
    #expect(file.group("One")?.entries.map(\.key) == ["A", "B"])
    #expect(file.entry("One", "A")?.line == 11)
    #expect(file.entry("One", "B")?.line == 5)
    #expect(try file.string("One", "A") == "6")
    #expect(try file.strings("Two", "A") == ["3", "4;5"])
    #expect(try file.string("One", "C") == nil)
    #expect(try file.string("Three", "A") == nil)
  }

  @Test func `every entry has the column of its value`() throws {
    let file = try read("[One]\nA=1\n \tB = two\nÄ=ü\nC=\nD=  x=y\n")
    for (key, column) in [("A", 3), ("B", 7), ("Ä", 3), ("C", 3), ("D", 5)] {
      #expect(file.entry("One", key)?.column == column, "\(key)")
    }
  }

  @Test func `an empty file is a valid key file`() throws {
    #expect(try read("").groups.isEmpty)
    #expect(try read("# nothing\n\n").groups.isEmpty)
  }

  @Test func `escapes are decoded, and an unknown escape is an error`() throws {
    let file = try read(
      #"""
      [G]
      Text=\sa\tb\\c
      Wrong=a\qb
      """#)
    #expect(try file.string("G", "Text") == " a\tb\\c")
    #expect(file.entry("G", "Wrong")?.raw == #"a\qb"#)
    let error = #expect(throws: KeyFileError.self) { try file.string("G", "Wrong") }
    #expect(error?.line == 3)
    #expect(throws: KeyFileError.self) { try file.strings("G", "Wrong") }
  }

  @Test(arguments: [
    ("[G]\nA=1\nthis is nothing\nB=2\n", 3),
    ("A=1\n[G]\n", 1),
    ("# c\n\n[G\nA=1\n", 3),
    ("[G]\nA=1\n=2\n[H]\nnonsense", 3),
    ("[G]\nA=1\n[H]\nnonsense", 4),
    ("[]\n", 1),
  ])
  func `a malformed line is an error with its line number`(text: String, line: Int) throws {
    #expect(try mistake(text).hasPrefix("test.conf:\(line): "))
  }

  @Test func `a line that is not text is an error with its line number`() throws {
    for bad: [UInt8] in [[0xFF], [0], [0xC3]] {
      let bytes = Array("[G]\nA=1\nB=".utf8) + bad + Array("\nC=1\n".utf8)
      let error = #expect(throws: KeyFileError.self) { try KeyFile(bytes: bytes, file: "test.conf") }
      #expect(error?.line == 3)
    }
  }

  @Test func `a file that is too large is an error`() throws {
    let bytes = [UInt8](repeating: UInt8(ascii: "#"), count: KeyFile.maximumSize + 1)
    #expect(throws: KeyFileError.self) { try KeyFile(bytes: bytes, file: "test.conf") }
  }

  @Test func `typed values are parsed, and an error names the valid values`() throws {
    let file = try read("[G]\nOn=on\nOff=no\nN=20\nC=red\n")
    #expect(try file.boolean("G", "On") == true)
    #expect(try file.boolean("G", "Off") == false)
    #expect(try file.boolean("G", "None") == nil)
    #expect(try file.integer("G", "N", in: 1...20, unit: "taps") == 20)
    #expect(try file.choice("G", "C", of: Colour.allCases) == .red)
    #expect(
      try mistake("[G]\nOn=maybe\n") { _ = try $0.boolean("G", "On") }
        == "test.conf:2: On=maybe is neither yes nor no: write yes or no")
    #expect(
      try mistake("[G]\nN=21\n") { _ = try $0.integer("G", "N", in: 1...20, unit: "taps") }
        == "test.conf:2: N=21 is out of range: write a number of taps from 1 to 20")
    #expect(
      try mistake("[G]\nN=1.5\n") { _ = try $0.integer("G", "N", in: 1...20, unit: "taps") }
        == "test.conf:2: N=1.5 is not a whole number: write a number of taps from 1 to 20")
    #expect(
      try mistake("[G]\n\nC=blue\n") { _ = try $0.choice("G", "C", of: Colour.allCases) }
        == "test.conf:3: C=blue is not known: write red or green")
  }

  @Test func `a missing file is not an error`() throws {
    #expect(try KeyFile.load("/nonexistent/tagroute.conf") == nil)
  }

  @Test func `a path that is not a regular file is an error`() throws {
    let error = #expect(throws: KeyFileError.self) { try KeyFile.load("/dev/null") }
    #expect(error?.description == "/dev/null: is not a file: name a text file")
    #expect(throws: KeyFileError.self) { try KeyFile.load("/") }
  }
}

/// Changes a file that other programs write too.
@Suite struct KeyFileEditTests {
  private let path = "/tmp/tagroute-key-file-edit-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"

  private func value(_ group: String, _ key: String) throws -> String? { try KeyFile.load(path)?.string(group, key) }

  @Test func `any value that is written is read back unchanged`() throws {
    defer { unlink(path) }
    let texts = ["", " a ", "a;b\\;c", "line\nline\ttab", "日本語=x", #"sh -c "a \\"b\\"" %u"#]
    for text in texts {
      try KeyFile.edit(path, [.set(group: "g h.i", key: "Key", to: text)], mode: 0o600)
      #expect(try value("g h.i", "Key") == text)
      try KeyFile.edit(path, [.setList(group: "g h.i", key: "List[a.b]", to: texts)], mode: 0o600)
      #expect(try KeyFile.load(path)?.strings("g h.i", "List[a.b]") == texts)
    }
    try KeyFile.edit(path, [.remove(group: "g h.i", key: "List[a.b]"), .removeGroup("none")], mode: 0o600)
    #expect(try KeyFile.load(path)?.group("g h.i")?.entries.map(\.key) == ["Key"])
    try KeyFile.edit(path, [.removeGroup("g h.i")], mode: 0o600)
    #expect(try KeyFile.load(path)?.groups.isEmpty == true)
  }

  @Test(arguments: [
    ("", "Key"), ("a]b", "Key"), ("a\nb", "Key"), ("g", ""), ("g", "a=b"), ("g", "#a"), ("g", "a[*.b]"), ("g", "a[b"),
    ("g", " a"), ("g", "a\n"),
  ])
  func `a name that cannot be read back is rejected, and the file stays unchanged`(group: String, key: String) throws {
    defer { unlink(path) }
    try KeyFile.edit(path, [.set(group: "g", key: "kept", to: "1")], mode: 0o600)
    #expect(throws: KeyFileError.self) {
      try KeyFile.edit(path, [.remove(group: "g", key: "kept"), .set(group: group, key: key, to: "x")], mode: 0o600)
    }
    #expect(try value("g", "kept") == "1")
  }

  @Test func `removing or setting a key applies to all of its duplicates`() throws {
    defer { unlink(path) }
    #expect(write("[g]\na=1\nb=1\na=2\n[h]\na=1\n[g]\na=3\nb=2\n"))
    try KeyFile.edit(path, [.remove(group: "g", key: "a"), .set(group: "g", key: "b", to: "3")], mode: 0o600)
    #expect(try value("g", "a") == nil)
    #expect(try value("g", "b") == "3" && value("h", "a") == "1")
    #expect(write("[g]\n" + String(repeating: "a=1\n", count: 500)))
    try KeyFile.edit(path, [.remove(group: "g", key: "a")], mode: 0o600)
    #expect(try value("g", "a") == nil)
  }

  private func write(_ text: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    return Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count
  }

  @Test func `a file that is too large is read only up to one byte above the limit`() throws {
    defer { unlink(path) }
    #expect(write("[g]\n") && truncate(path, 1 << 26) == 0)
    #expect(try KeyFile.contents(of: path)?.count == KeyFile.maximumSize + 1)
    #expect(throws: KeyFileError.self) { try KeyFile.load(path) }
  }

  @Test func `a failed edit leaves the file unchanged`() throws {
    defer { unlink(path) }
    try KeyFile.edit(path, [.set(group: "g", key: "kept", to: "1")], mode: 0o600)
    let large = String(repeating: "x", count: KeyFile.maximumSize)
    #expect(throws: KeyFileError.self) { try KeyFile.edit(path, [.set(group: "g", key: "a", to: large)], mode: 0o600) }
    #expect(try value("g", "kept") == "1")
    let edit = KeyFileEdit.set(group: "g", key: "a", to: "1")
    #expect(throws: KeyFileError.self) { try KeyFile.edit("/proc/none/a", [edit], mode: 0o600) }
    // Nothing has to be written.
    try KeyFile.edit("/proc/none/a", [.removeGroup("g")], mode: 0o600)
  }
}

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

  @Test(arguments: [
    ("stauts", "status"), ("STATUS", "status"), ("of", "off"), ("no", "on"), ("ls", nil), ("x", nil), ("", nil),
    ("monitoring", nil), ("handler", nil),
  ])
  func `only a near name is suggested, and a short one only for one mistake`(name: String, nearest: String?) {
    let known = ["status", "on", "off", "monitor"]
    #expect(Spelling.suggestion(for: name, among: known) == nearest.map { "did you mean \($0)?" })
  }

  @Test func `edit distances count a swap of two letters as one change`() {
    #expect(editDistance("", "") == 0)
    #expect(editDistance("abc", "") == 3)
    #expect(editDistance("Reader", "Raeder") == 1)
    #expect(editDistance("kitten", "sitting") == 3)
    #expect(editDistance(String(repeating: "a", count: 1000), "b") == 1000)
  }
}

struct FileContentsTests {
  @Test func `a directory listing omits hidden names and names that are not UTF-8`() throws {
    var template = Array("/tmp/tagroute-test-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    let names = ["b", "ä", ".hidden", "a.desktop"].map { Array("\(folder)/\($0)".utf8) }
    let files = names + [Array("\(folder)/".utf8) + [0xFF]]
    defer {
      for file in files { unlink(file.map(CChar.init(bitPattern:)) + [0]) }
      rmdir(folder)
    }
    for file in files { close(open(file.map(CChar.init(bitPattern:)) + [0], O_CREAT | O_WRONLY, 0o600)) }
    #expect(FileContents.names(inDirectory: folder, atMost: 10)?.sorted() == ["a.desktop", "b", "ä"])
    #expect(FileContents.names(inDirectory: "\(folder)/b", atMost: 10) == nil)
    #expect(FileContents.names(inDirectory: "\(folder)/nothing", atMost: 10) == nil)
    #expect(FileContents.names(inDirectory: folder, atMost: 3)?.count == 3)
    #expect(FileContents.names(inDirectory: folder, atMost: 1)?.count == 2)
  }
}
