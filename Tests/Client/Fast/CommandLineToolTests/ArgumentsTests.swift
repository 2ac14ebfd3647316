import Testing

@testable import CommandLineTool

@Suite struct ArgumentsTests {
  @Test func `words, flags and values are separated`() throws {
    let arguments = try Arguments(
      ["first", "--json", "--file", "a b", "--name=c=d", "-", "--", "--json"], flags: ["json"],
      valued: ["file", "name"])
    #expect(arguments.words == ["first", "-", "--json"])
    #expect(arguments.options == ["json": "", "file": "a b", "name": "c=d"])
  }

  @Test func `options keep their order, and some have two values`() throws {
    let arguments = try Arguments(
      ["--mime", "a/b", "-", "--file=1", "word", "--mime=c/d", "--file", "--file", "2"], flags: [], valued: ["file"],
      paired: ["mime"])
    #expect(arguments.words == ["word"])
    #expect(arguments.given.map(\.name) == ["mime", "file", "mime", "file"])
    #expect(arguments.given.map(\.values) == [["a/b", "-"], ["1"], ["c/d", "--file"], ["2"]])
    let failure = #expect(throws: Failure.self) { try Arguments(["--mime", "a/b"], flags: [], paired: ["mime"]) }
    #expect(failure?.message.hasPrefix("--mime needs two values") == true)
  }

  @Test(arguments: [
    (["--nope"], "unknown option --nope"),
    (["-x"], "unknown option -x"),
    (["-json"], "unknown option -json"),
    (["--json=yes"], "--json takes no value"),
    (["--file"], "--file needs a value"),
  ])
  func `a wrong option is named`(_ words: [String], _ reason: String) {
    let failure = #expect(throws: Failure.self) { try Arguments(words, flags: ["json"], valued: ["file"]) }
    #expect(failure?.message.hasPrefix(reason) == true)
    #expect(failure?.exitCode == 64)
  }
}

@Suite struct ConsoleTests {
  @Test(arguments: [
    ("plain Übergröße 東京 👍", "plain Übergröße 東京 👍"),
    ("red \u{1B}[31m", "red \\u{1b}[31m"),
    ("two\nlines\r", "two\\u{a}lines\\u{d}"),
    ("gpj.\u{202E}exe", "gpj.\\u{202e}exe"),
    ("\u{9B}31m\u{2028}\u{200B}", "\\u{9b}31m\\u{2028}\\u{200b}"),
  ])
  func `control characters for the terminal are escaped`(_ text: String, _ expected: String) {
    #expect(Console.printable(text) == expected)
  }
}
