import Testing

@testable import CommandLineTool

@Suite struct ArgumentsTests {
  private static let options: [Command.Option] = [
    .init("json", "print JSON"), .init("file", "FILE", "a file"), .init("name", "NAME", "a name"),
    .init("mime", "TYPE FILE", "a type and a file"),
  ]

  @Test func `words, flags and values are separated`() throws {
    let arguments = try Arguments(
      ["first", "--json", "--file", "a b", "--name=c=d", "-", "--", "--json"], Self.options)
    #expect(arguments.words == ["first", "-", "--json"])
    #expect(arguments.options == ["json": "", "file": "a b", "name": "c=d"])
  }

  @Test func `options keep their order, and some have two values`() throws {
    let arguments = try Arguments(
      ["--mime", "a/b", "-", "--file=1", "word", "--mime=c/d", "--file", "--file", "2"], Self.options)
    #expect(arguments.words == ["word"])
    #expect(arguments.given.map(\.name) == ["mime", "file", "mime", "file"])
    #expect(arguments.given.map(\.values) == [["a/b", "-"], ["1"], ["c/d", "--file"], ["2"]])
    let failure = #expect(throws: Failure.self) { try Arguments(["--mime", "a/b"], Self.options) }
    #expect(failure?.message == "--mime needs two values: --mime TYPE FILE")
  }

  @Test func `unknown options are kept as they were typed`() throws {
    let arguments = try Arguments(["--nope=1", "-x", "-json", "--json", "-h"], Self.options)
    #expect(arguments.unknown == ["--nope", "-x", "-json", "-h"])
    #expect(arguments.options == ["json": ""])
  }

  @Test(arguments: [
    (["--json=yes"], "--json takes no value"), (["--file"], "--file needs a value: --file FILE"),
    (["--file="], "--file needs a value: --file FILE"), (["--file", ""], "--file needs a value: --file FILE"),
  ])
  func `a wrong value is named with its option`(_ words: [String], _ reason: String) {
    let failure = #expect(throws: Failure.self) { try Arguments(words, Self.options) }
    #expect(failure?.message == reason)
    #expect(failure?.exitCode == 64)
  }
}

@Suite struct ConsoleTests {
  @Test(arguments: [
    ("plain Übergröße 東京 👍", "plain Übergröße 東京 👍"), ("red \u{1B}[31m", "red \\u{1b}[31m"),
    ("two\nlines\r", "two\\u{a}lines\\u{d}"), ("gpj.\u{202E}exe", "gpj.\\u{202e}exe"),
    ("\u{9B}31m\u{2028}\u{200B}", "\\u{9b}31m\\u{2028}\\u{200b}"),
  ])
  func `control characters for the terminal are escaped`(_ text: String, _ expected: String) {
    #expect(Console.printable(text) == expected)
  }
}

struct HelpTests {
  @Test func `every text fits a terminal of 80 columns`() {
    for text in [Help.overview] + Command.all.map(Help.text) {
      #expect(text.split(separator: "\n").filter { $0.count > 80 } == [])
    }
  }

  @Test func `the text of a command begins with its usage and has the option for JSON`() {
    for command in Command.all {
      let text = Help.text(for: command)
      #expect(text.hasPrefix("Usage: tagroute \(command.name)") && text.contains("--json"), "\(text)")
    }
  }

  @Test func `a summary begins with a lowercase letter and has no full stop`() {
    let summaries = Command.all.map(\.summary) + Command.all.flatMap(\.forms).map(\.summary)
    for summary in summaries + Command.all.flatMap(\.forms).flatMap(\.options).map(\.help) {
      #expect(summary.first?.isLowercase == true || summary.hasPrefix("-"), "\(summary)")
      #expect(!summary.hasSuffix("."), "\(summary)")
    }
  }

  @Test func `options are printed in four columns for scripts`() {
    let rows = Help.options.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    #expect(rows.allSatisfy { $0.count == 4 })
    #expect(rows.contains { $0[0] == "inbox open" && $0[1] == "--handler" && $0[2] == "APP" && !$0[3].isEmpty })
    #expect(rows.contains { $0[0] == "handlers verify" && $0[1].isEmpty })
    #expect(rows.contains { $0[0].isEmpty && $0[1] == "--version" })
  }
}
