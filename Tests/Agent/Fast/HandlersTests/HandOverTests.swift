import Bus
import EventLoop
import Glibc
import NDEF
import Testing

@testable import Handlers

@Suite struct CommandLineTemplateTests {
  private let hostile = "https://example.com/$(reboot);`x`?a=b&c|d'e"

  @Test(arguments: [
    ("menu %u", ["menu", "URI"]), ("menu %U", ["menu", "URI"]), ("menu --link=%u", ["menu", "--link=URI"]),
    ("menu", ["menu"]), ("  menu\t-v  %u ", ["menu", "-v", "URI"]),
    (#""/opt/my app/menu" %u"#, ["/opt/my app/menu", "URI"]),
    (#"menu "a \"b\" \$c \`d\` \\e \f" %u"#, ["menu", #"a "b" $c `d` \e \f"#, "URI"]),
    ("menu '' 'it is' %u", ["menu", "", "it is", "URI"]),
    (#"menu a\ b"#, ["menu", "a b"]),
    (#"menu """#, ["menu", ""]),
    ("menu 100%% \"50%%\" %u", ["menu", "100%", "50%", "URI"]),
    ("menu %i %c %k", ["menu", "--icon", "ICON", "The Menu", "/x/menu.desktop"]),
    ("menu %f", ["menu"]),
    ("menu %F -x", ["menu", "-x"]),
    ("menu %d %D %n %N %v %m", ["menu"]),
    ("menu -%v-", ["menu", "--"]),
    ("sh -c $HOME ; rm | %u", ["sh", "-c", "$HOME", ";", "rm", "|", "URI"]),
    ("flatpak run org.example.Menu @@u %u @@", ["flatpak", "run", "org.example.Menu", "@@u", "URI", "@@"]),
  ])
  func `a command line is split and unquoted, and its field codes are replaced`(exec: String, expected: [String]) throws
  {
    let fields = CommandLineTemplate.Fields(uri: hostile, name: "The Menu", icon: "ICON", file: "/x/menu.desktop")
    let template = try CommandLineTemplate(exec)
    #expect(template.filled(with: fields) == expected.map { $0.replacing("URI", with: hostile) })
  }

  @Test(arguments: [
    ("cards %f", ["cards", "/r/a b"]), ("cards --open %F", ["cards", "--open", "/r/a b"]),
    ("cards %u", ["cards", "file:///r/a%20b"]), ("cards", ["cards", "/r/a b"]),
    ("run @@u %U @@", ["run", "@@u", "file:///r/a%20b", "@@"]),
    // There is no icon.
    ("cards %i %u", ["cards", "file:///r/a%20b"]),
  ])
  func `a file replaces its field code, or is the last argument`(exec: String, expected: [String]) throws {
    let fields = CommandLineTemplate.Fields(
      uri: "file:///r/a%20b", name: "x", icon: nil, file: "/x", path: "/r/a b")
    #expect(try CommandLineTemplate(exec).filled(with: fields) == expected)
  }

  @Test(arguments: [
    "", "  ", "%u", "\"\" %u", "men%u", #"menu "%u""#, "menu '%u'", #"sh -c "menu %u""#, "menu \"a", "menu 'a",
    "menu \\",
    "menu %", "menu %x", "menu %u %U", "menu %u %f", "menu %é",
  ])
  func `a command line that cannot be parsed is rejected`(exec: String) {
    #expect(throws: CommandLineError.self) { try CommandLineTemplate(exec) }
  }
}

@Suite struct TagDataTests {
  private static let reader = "/org/tagroute/Tagroute1/readers/0"

  @Test func `a handler gets the same values over D-Bus and in its environment`() {
    let tag = TagRead(
      id: "", time: 1_795_000_000_000_000, reader: Self.reader, technology: "type-2", uid: [0x04, 0xA2, 0x19, 0x5A],
      bytes: [])
    #expect(
      tag.platformData == [
        "uid": .bytes([0x04, 0xA2, 0x19, 0x5A]), "technology": .string("type-2"), "reader": .string(Self.reader),
        "time": .uint64(1_795_000_000_000_000),
      ])
    #expect(
      tag.environment == [
        "TAGROUTE_UID": "04-A2-19-5A", "TAGROUTE_TECHNOLOGY": "type-2", "TAGROUTE_READER": Self.reader,
        "TAGROUTE_TIME": "1795000000000000",
      ])
  }

  @Test func `an empty value, and a reader that is no object path, are omitted`() {
    for reader in ["", "$(reboot)"] {
      let tag = TagRead(reader: reader)
      #expect(tag.platformData == ["time": .uint64(0)])
      #expect(tag.environment == ["TAGROUTE_TIME": "0"])
    }
  }

  @Test(arguments: ["two words", "a\nb", "a\0b", "a\u{1B}[2J", "é", String(repeating: "a", count: 256)])
  func `a value that an environment must not contain is omitted`(text: String) {
    let tag = TagRead(technology: text, reader: "/" + text)
    #expect(tag.platformData == ["time": .uint64(0)])
    #expect(tag.environment == ["TAGROUTE_TIME": "0"])
  }
}

@Suite struct RunningCommandsTests {
  @Test func `the programs of an owner and of all are limited, and an end makes room`() {
    var commands = RunningCommands()
    for name in ["a", "b"] {
      for owner in [RunningCommands.Owner.rule(name), .application(name)] {
        for _ in 0..<RunningCommands.mostOfOwner { #expect(commands.begin(owner) == nil) }
      }
      #expect(commands.begin(.rule(name))?.hasPrefix("16 programs of this rule still run") == true)
      #expect(commands.begin(.application(name))?.hasPrefix("16 programs of this app still run") == true)
    }
    #expect(commands.begin(.rule("e"))?.hasPrefix("64 programs of rules still run") == true)
    commands.end(.rule("a"))
    #expect(commands.begin(.application("e")) == nil && commands.begin(.rule("a")) != nil)
    commands.end(.application("e"))
    #expect(commands.begin(.rule("a")) == nil)
    // More ends than programs.
    commands.end(.rule("f"))
    #expect(commands.begin(.rule("f")) != nil)
  }
}

@Suite(.timeLimit(.minutes(1))) struct ChildReaperTests {
  @Test func `a child that nothing can wait for gives its place back`() async {
    let reaper = ChildReaper(on: EventLoop(label: "test"), openDescriptor: { _ in -1 }) { _ throws(SystemError) in
      throw SystemError("start a thread", errno: EAGAIN)
    }
    await confirmation { ended in await reaper.adopt(1) { _ in ended() } }
  }
}
