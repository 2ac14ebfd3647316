import EventLoop
import Glibc
import NDEF
import Routing
import TestKit
import Testing
import UniversalLinks

@testable import Handlers
@testable import HandlersTests

/// No shell sees text from a tag, a rule, the name of a reader or a desktop entry.
///
/// Each of them would make a file if a shell evaluated it, with any quotation marks around it.
@Suite(.timeLimit(.minutes(2))) struct NoShellTests {
  private let data: DataDirectory
  private let launcher: Launcher

  init() throws {
    data = try DataDirectory()
    var environment = data.environment
    environment["XDG_RUNTIME_DIR"] = data.temporary.path
    launcher = Launcher(connection: nil, environment: environment, on: EventLoop(label: "test"))
    // Reports its arguments and input. Programs start in the home directory, so relative paths are in the test's
    // directory too.
    let folder = data.temporary.path
    try data.temporary.write(
      """
      #!/bin/sh
      {
        for argument in "$@"; do printf '<%s>\\n' "$argument"; done
        env | grep '^TAGROUTE_' | sort
      } > '\(folder)/report'
      cat > '\(folder)/input'
      """, to: "bin/recorder", mode: 0o755)
  }

  private var mark: String { data.temporary.file("mark") }

  private var attacks: [String] {
    [
      "$(touch \(mark))", "`touch \(mark)`", "; touch \(mark);", "&& touch \(mark)", "|| touch \(mark)",
      "| touch \(mark)", "& touch \(mark) &", "> \(mark)", "\n touch \(mark)\n", "'; touch \(mark); '",
      "\"; touch \(mark); \"", "\"$(touch \(mark))\"", "${IFS:+$(touch \(mark))}", "<(touch \(mark))",
      "$((`touch \(mark)`))",
    ]
  }

  /// The same without characters that a link, a type or an object path cannot have.
  private var attack: String { "$(touch$IFS\(mark));touch$IFS\(mark)&'" }

  private func expectNoShell(at location: SourceLocation = #_sourceLocation) {
    let names = fileNames(in: data.temporary.path) ?? ["?"]
    #expect(Set(names).isDisjoint(with: ["mark", "x", ".x", "?"]), "a shell has run", sourceLocation: location)
  }

  /// What the program has reported after all programs have ended.
  private func recorded() async throws -> (report: [String], input: [UInt8]) {
    await launcher.allEnded()
    let report = String(decoding: try readFile(data.temporary.file("report")), as: UTF8.self)
    return (report.split(separator: "\n").map(String.init), try readFile(data.temporary.file("input")))
  }

  /// A message with the attacks in each field that a tag has.
  private func message() throws -> NDEFMessage {
    var records = [URIRecord("https://menu.example.com/\(attack)?\(attack)#\(attack)").record()]
    for attack in attacks {
      records.append(try TextRecord(attack, language: "en").record())
      for format in [TypeNameFormat.mediaType, .external, .absoluteURI] {
        records.append(
          NDEFRecord(
            typeNameFormat: format, type: Array(attack.utf8), id: Array(attack.utf8), payload: Array(attack.utf8)))
      }
    }
    var network = WiFiNetwork(ssid: "$(touch x);`touch x`&|>x", passphrase: "visitors")
    records.append(try WiFiRecord([network]).record())
    network.ssid = Array("';touch x;'".utf8)
    records.append(try WiFiRecord([network]).record())
    records.append(try SmartPosterRecord(uri: attack, titles: [TextRecord(attack, language: "en")]).record())
    return NDEFMessage(records: records)
  }

  private var tag: TagRead {
    TagRead(
      id: "", time: 7, reader: "/readers/\(attack)", technology: "$(touch$IFS.x);`id`", uid: [4, 0xA2, 0x19, 0x5A],
      bytes: [])
  }

  private func rule(_ lines: String) throws -> TapRule {
    let file = RuleFile(Array("[Rule $(touch x);`touch x`|&>x'\"]\n\(lines)\n".utf8), file: "f", origin: .user)
    return try #require(file.rules.first, "\(file.problems)")
  }

  @Test(arguments: ["Run", "OnRemove"])
  func `the program of a rule gets its arguments as they are, and the tag apart from them`(key: String) async throws {
    // A line break in a list is written \n.
    let escaped = attacks.map { $0.replacing("\n", with: "\\n").replacing(";", with: "\\;") }
    let list = "\(key)=recorder;\(escaped.joined(separator: ";"));\n"
    let rule = try rule("UID=04-A2-19-5A\n" + (key == "Run" ? list : "Run=true;\n" + list))
    let message = try message()
    let read = TagRead(uid: [4, 0xA2, 0x19, 0x5A], message: message)
    let route = Registry().route(for: read, rules: RuleSet([rule]))
    #expect(route.rule == rule)
    let command = try #require(
      key == "Run" ? TapCommand(rule, uri: route.uri) : TapCommand(onRemovalFor: rule, uri: route.uri))
    let bytes = key == "Run" ? try message.encoded() : []
    let click = Launcher.Click(tapID: "tap", tag: tag)
    #expect(await launcher.run(command, message: bytes, click: click).outcome == .delivered)
    let (report, input) = try await recorded()
    let lines = attacks.flatMap { "<\($0)>".split(separator: "\n").map(String.init) }
    #expect(
      report == lines + [
        "TAGROUTE_READER=/readers/\(attack)", "TAGROUTE_TAP_ID=tap", "TAGROUTE_TECHNOLOGY=$(touch$IFS.x);`id`",
        "TAGROUTE_TIME=7", "TAGROUTE_UID=04-A2-19-5A",
        "TAGROUTE_URI=https://menu.example.com/\(attack)?\(attack)#\(attack)",
      ])
    #expect(input == bytes)
    expectNoShell()
  }

  @Test func `a program whose name is a command line is not found`() async throws {
    for name in ["recorder&&touch$IFS.x", "$(which$IFS.recorder)", "`recorder`", "recorder|cat", "~"] {
      let command = try #require(TapCommand(try rule("UID=04-A2-19-5A\nRun=\(name);"), uri: nil))
      let failure = await launcher.run(command, message: []).outcome.failure
      #expect(failure?.code == .commandMissing, "\(name)")
      #expect(failure?.detail == "no directory in PATH has the program \(name); correct f:1")
    }
    expectNoShell()
  }

  @Test func `a handler gets the link as one argument, and no field of its entry is evaluated`() async throws {
    let file = try data.entry(
      "handler", ["Exec=recorder $(touch x) ; > x & %c %k %u", "Name=$(touch x);`touch x`"])
    let application = Application(desktopID: "handler.desktop", name: "Handler", file: file, origin: .system)
    let uri = try URI("https://menu.example.com/\(attack)?\(attack)#\(attack)")
    let bytes = try message().encoded()
    let outcome = await launcher.open(application, uri, message: bytes, click: Launcher.Click(tag: tag)).outcome
    #expect(outcome == .delivered)
    let (report, input) = try await recorded()
    let arguments = report.filter { $0.hasPrefix("<") }
    #expect(arguments.prefix(6) == ["<$(touch>", "<x)>", "<;>", "<>>", "<x>", "<&>"])
    #expect(arguments.dropFirst(6).first == "<$(touch x);`touch x`>")
    #expect(arguments.count == 9 && arguments.suffix(2) == ["<\(file)>", "<\(uri.string)>"])
    #expect(report.contains("TAGROUTE_READER=/readers/\(attack)"))
    #expect(input == bytes)
    expectNoShell()
  }

  /// A media type may have `$`, `&` and `!`. Its name on the disk is a random number.
  @Test func `an app that is no handler gets a path without anything from the tag`() async throws {
    let file = try data.entry("viewer", ["Exec=recorder %f"], claims: [], implements: false)
    let application = Application(desktopID: "viewer.desktop", name: "Viewer", file: file, origin: .system)
    let type = "text/x$x&touch$IFS.x&!x"
    let payload = Array(attacks.joined().utf8)
    let message = NDEFMessage(records: [
      NDEFRecord(typeNameFormat: .mediaType, type: Array(type.utf8), id: Array(attack.utf8), payload: payload)
    ])
    var rules = RuleSet([try rule("MimeType=\(type)\nOpen=viewer.desktop")])
    rules.applications["viewer.desktop"] = RuleSet.NamedApplication(application, takesLinks: false, takesFiles: true)
    let route = Registry().route(for: TagRead(message: message), rules: rules)
    #expect(route.handler == application)
    #expect(await launcher.open(route, message: try message.encoded()).outcome == .delivered)
    let (report, input) = try await recorded()
    let path = try #require(report.first?.wholeMatch(of: /<(\/.*\/tag-[0-9a-f]{16})>/)?.1)
    #expect(report.count == 1 && input.isEmpty)
    #expect(try readFile(String(path)) == payload)
    expectNoShell()
    await launcher.removeFiles()
  }
}
