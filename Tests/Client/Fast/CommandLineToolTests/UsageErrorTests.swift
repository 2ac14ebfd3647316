import Names
import Testing

@testable import CommandLineTool

/// A wrong command line names the mistake, the right usage, and the help of its command.
@Suite struct UsageErrorTests {
  private struct Row: CustomStringConvertible {
    let command: Command
    let form: Command.Form

    /// Like the help shows it: `inbox show`.
    var description: String { words.joined(separator: " ") }
    var words: [String] { [command.name, form.word].compactMap(\.self) }

    /// The failure for more words after the form.
    func failure(_ more: [String]) async -> Failure? {
      let words = words.dropFirst() + more
      return await #expect(throws: Failure.self, "\(self) \(more)") {
        try await command.invoke(Array(words)) { _, _ in 0 }
      }
    }
  }

  private static let rows = Command.all.flatMap { command in command.forms.map { Row(command: command, form: $0) } }

  private static func failure(_ line: String) async throws -> Failure? {
    let words = line.split(separator: " ").map { $0 == "''" ? "" : String($0) }
    return await #expect(throws: Failure.self) {
      let name = try #require(words.first)
      do throws(Failure) {
        _ = try await Command.named(name).invoke(Array(words.dropFirst())) { _, _ in 0 }
      } catch {
        throw error.pointing(to: "tagroute")
      }
    }
  }

  /// The right number of arguments: one of each.
  private static func arguments(_ form: Command.Form) -> [String] {
    form.arguments.split(separator: " ").filter { $0 != "--" }.map { _ in "x" }
  }

  @Test func `each form names an unknown option, and suggests the one that was meant`() async throws {
    for row in Self.rows {
      let unknown = await row.failure(["--nonsense"] + Self.arguments(row.form))
      let start = "\(row) has no option --nonsense; see tagroute \(row.command.name) --help"
      #expect(unknown == Failure(message: start, exitCode: 64))
      for option in row.form.options {
        // `write` has many short options, of which another may be as near.
        let typed = "--\(option.name)\(option.name.last ?? "-")"
        let near = await row.failure([typed])
        #expect(near?.message.hasPrefix("\(row) has no option \(typed): did you mean --") == true)
        #expect(near?.message.hasSuffix("? See tagroute \(row.command.name) --help") == true)
      }
    }
  }

  @Test func `each form names a missing argument and one that is too many`() async throws {
    for row in Self.rows {
      let names = row.form.arguments.split(separator: " ").filter { $0 != "--" }
      let end = "; see tagroute \(row.command.name) --help"
      let required = names.filter { !$0.contains("[") }
      for count in required.indices {
        let name = required[count].filter { $0 != "…" }
        let missing = await row.failure([String](repeating: "x", count: count))
        #expect(missing?.message.hasPrefix("\(name) is missing: use tagroute \(row) ") == true)
        #expect(missing?.message.hasSuffix(end) == true && missing?.exitCode == 64)
      }
      guard names.last?.contains("…") != true else { continue }
      let tooMany = await row.failure(Self.arguments(row.form) + ["extra"])
      let isSubcommand = row.form.word == nil && row.command.forms.count > 1
      let start =
        isSubcommand
        ? "\(row) has no subcommand extra" : "the argument extra is one too many: use tagroute \(row)"
      #expect(tooMany?.message.hasPrefix(start) == true, "\(tooMany?.message ?? "")")
      #expect(tooMany?.message.hasSuffix(end) == true && tooMany?.exitCode == 64)
    }
  }

  @Test func `help with a command and a subcommand prints the page of the command`() throws {
    #expect(try Help.page([]) == Help.overview)
    for row in Self.rows { #expect(try Help.page(row.words) == Help.text(for: row.command)) }
  }

  @Test func `a letter that is missing in a command or a subcommand gets a suggestion`() async throws {
    for row in Self.rows where row.form.word != nil || row.command.forms.count == 1 {
      let name = try #require(row.words.last)
      let typed = String(name.dropLast())
      let failure = try await Self.failure((row.words.dropLast() + [typed]).joined(separator: " "))
      #expect(failure?.message.contains("\(typed): did you mean \(name)? See tagroute") == true, "\(row)")
      #expect(failure?.exitCode == 64)
    }
  }

  @Test(arguments: [
    ("stauts", "there is no command stauts: did you mean status? See tagroute --help"),
    ("nonsense", "there is no command nonsense; see tagroute --help"),
    ("version", "there is no command version: did you mean --version? See tagroute --help"),
    ("inbox list", "inbox has no subcommand list: did you mean tagroute inbox? See tagroute inbox --help"),
    ("rules list", "rules has no subcommand list: did you mean tagroute rules? See tagroute rules --help"),
    ("handlers list", "handlers has no subcommand list: did you mean tagroute handlers? See tagroute handlers --help"),
    (
      "write https://a.example/b?c=d",
      "the argument https://a.example/b?c=d is one too many: use tagroute write --uri 'https://a.example/b?c=d'; "
        + "see tagroute write --help"
    ),
    (
      "write --json --count=2 a.example",
      "the argument a.example is one too many: use tagroute write --json --count 2 --uri a.example; "
        + "see tagroute write --help"
    ),
    (
      "write --uri a.example b.example",
      "the argument b.example is one too many: use tagroute write; see tagroute write --help"
    ),
    (
      "write a.example b.example",
      "the argument a.example is one too many: use tagroute write; see tagroute write --help"
    ),
    (
      "demo --handler a a.example",
      "the argument a.example is one too many: use tagroute demo --handler a --uri a.example; see tagroute demo --help"
    ),
    (
      "demo a.example",
      "the argument a.example is one too many: use tagroute demo --uri a.example; see tagroute demo --help"
    ),
    ("--jso status", "there is no option --jso: did you mean --json? See tagroute --help"),
    ("help stauts", "there is no command stauts: did you mean status? See tagroute help --help"),
    ("help inbox shw", "inbox has no subcommand shw: did you mean show? See tagroute inbox --help"),
    ("inbox shw 01", "inbox has no subcommand shw: did you mean show? See tagroute inbox --help"),
    (
      "session",
      "a subcommand is missing: use tagroute session lock, or tagroute session unlock; see tagroute session --help"
    ),
    ("''", "the command is empty; see tagroute --help"),
    ("inbox --limt 5", "inbox has no option --limt: did you mean --limit? See tagroute inbox --help"),
    ("handlers --chek file", "handlers has no option --chek: did you mean --check? See tagroute handlers --help"),
    ("inbox show 01 --all", "inbox show has no option --all; see tagroute inbox --help"),
    ("status -json", "status has no option -json: did you mean --json? See tagroute status --help"),
    (
      "handlers verify --server foo",
      "ID is missing (foo is the value of --server): use tagroute handlers verify ID, or tagroute handlers verify --due; "
        + "see tagroute handlers --help"
    ),
    (
      "handlers forget --all --domain a.example",
      "use only one of --domain and --all; see tagroute handlers --help"
    ),
    (
      "handlers --check a b",
      "the argument b is one too many: use tagroute handlers, or tagroute handlers --check [FILE]; "
        + "see tagroute handlers --help"
    ),
    (
      "inbox export --all",
      "FILE is missing: use tagroute inbox export ID FILE, or tagroute inbox export --all FILE; "
        + "see tagroute inbox --help"
    ),
    ("inbox show ''", "ID is empty: use tagroute inbox show ID; see tagroute inbox --help"),
    (
      "rules add lamp --ignore extra",
      "the argument extra is one too many: use tagroute rules add NAME {--uid UID | --wait | --handler ID} [OPTION…] "
        + "{--open ID | --show | --ignore}, or tagroute rules add NAME {--uid UID | --wait | --handler ID} [OPTION…] "
        + "--run PROGRAM [ARGUMENT…]; see tagroute rules --help"
    ),
  ])
  func `the message says what is wrong and where the help is`(line: String, message: String) async throws {
    let words = line.split(separator: " ").map(String.init)
    // `help` itself looks for the command.
    guard words.first != "help" else {
      let failure = await #expect(throws: Failure.self) { try await Command.help.invoke(Array(words.dropFirst())) }
      #expect(failure == Failure(message: message, exitCode: 64))
      return
    }
    #expect(try await Self.failure(line) == Failure(message: message, exitCode: 64))
  }

  @Test(arguments: [
    "rules add lamp --run mpc play -- -q", "run -- nfc-list -v", "run nfc-list ''", "inbox export --all -",
    "handlers --check",
    "handlers --check verify.desktop", "rules --check a b c", "handlers verify --due", "inbox clear 01 02",
    "inbox clear",
    "help", "help inbox", "resolve", "resolve --message file", "transceive 00 01",
  ])
  func `a right number of arguments passes`(line: String) async throws {
    let words = line.split(separator: " ").map { $0 == "''" ? "" : String($0) }
    let command = try Command.named(words[0])
    #expect(try await command.invoke(Array(words.dropFirst())) { _, _ in 7 } == 7)
  }

  @Test(arguments: ["foo", "foo:", ":443", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:port"])
  func `the server of handlers verify is an address and a port`(server: String) throws {
    let arguments = try Command.handlers.parse(["verify", "org.example.Menu", "--server", server])
    let failure = #expect(throws: Failure.self) { try AssociationFetcher.Options(arguments) }
    #expect(failure?.message.hasPrefix("--server takes an address and a port") == true)
    for right in ["127.0.0.1:443", "[::1]:443", "localhost:8443"] {
      let arguments = try Command.handlers.parse(["verify", "org.example.Menu", "--server", right])
      #expect(try AssociationFetcher.Options(arguments).server == right)
    }
  }

  @Test(arguments: ["--json", "--verbose"])
  func `doctor --watch has no other form`(option: String) async {
    let failure = await #expect(throws: Failure.self) { try await Command.doctor.invoke(["--watch", option]) }
    #expect(failure?.message == "use only one of --watch and \(option); see tagroute doctor --help")
    #expect(failure?.exitCode == Names.ExitCode.usage)
  }
}
