import Testing

@testable import Handlers

@Suite struct CommandLineTemplateTests {
  private let hostile = "https://example.com/$(reboot);`x`?a=b&c|d'e"

  @Test(arguments: [
    ("menu %u", ["menu", "URI"]),
    ("menu %U", ["menu", "URI"]),
    ("menu --link=%u", ["menu", "--link=URI"]),
    ("menu", ["menu"]),
    ("  menu\t-v  %u ", ["menu", "-v", "URI"]),
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
