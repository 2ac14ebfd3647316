import Settings
import Testing

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
