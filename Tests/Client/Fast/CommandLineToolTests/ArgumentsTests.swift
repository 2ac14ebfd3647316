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

  @Test(arguments: [
    ("inbox show 01 --all", "tagroute inbox show has no option --all"),
    ("inbox --yes", "tagroute inbox has no option --yes"), ("handlers --all", "tagroute handlers has no option --all"),
    ("status --reader 1", "unknown option --reader"),
  ])
  func `an option of another form is rejected`(line: String, message: String) throws {
    let words = line.split(separator: " ").map(String.init)
    let command = try #require(Command.all.first { $0.name == words[0] })
    let failure = #expect(throws: Failure.self) { try command.parse(Array(words.dropFirst())) }
    #expect(failure?.message.hasPrefix(message) == true)
  }
}
