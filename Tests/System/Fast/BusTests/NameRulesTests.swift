import Testing

@testable import Bus

@Suite struct NameRulesTests {
  @Test(arguments: ["/", "/a", "/a/b_1", "/0"]) func `a valid path is accepted`(_ text: String) throws {
    #expect(try ObjectPath(text).string == text)
  }

  @Test(arguments: ["", "a", "//", "/a/", "/a//b", "/a-b", "/ä", "/a\u{0}", "/\u{0}", "/a b", "/a.b"])
  func `an invalid path is rejected`(_ text: String) {
    #expect(throws: BusError.self) { try ObjectPath(text) }
  }

  @Test func `a path finds its children and descendants`() throws {
    let parent: ObjectPath = "/a/b"
    #expect(try parent.appending("c") == "/a/b/c")
    #expect(try ObjectPath.root.appending("c") == "/c")
    #expect(throws: BusError.self) { try parent.appending("") }
    #expect(throws: BusError.self) { try parent.appending("c/") }
    #expect(ObjectPath("/a/b/c").isBelow(parent))
    #expect(!ObjectPath("/a/bc").isBelow(parent))
    #expect(!parent.isBelow(parent))
    #expect(parent.isBelow(.root))
    #expect(ObjectPath("/a/b/c/d").child(of: parent) == "c")
    #expect(ObjectPath("/a").child(of: .root) == "a")
  }

  @Test(arguments: [
    "", "a", "a..b", ".a", "a.b.", "1.2", "a.b\u{0}", "a b.c", ":1.2", String(repeating: "a.b", count: 99),
  ])
  func `an invalid interface name is rejected`(_ text: String) {
    #expect(throws: BusError.self) { try NameRules.requireInterface(text) }
  }

  @Test(arguments: ["", "a", "a.b\u{0}", "a..b", ":1..2", "a b.c", String(repeating: "a.b", count: 99)])
  func `an invalid bus name is rejected`(_ text: String) {
    #expect(throws: BusError.self) { try NameRules.requireBusName(text) }
  }

  @Test(arguments: ["", "a.b", "1a", "a-b", "a\u{0}", String(repeating: "a", count: 256)])
  func `an invalid member name is rejected`(_ text: String) {
    #expect(throws: BusError.self) { try NameRules.requireMember(text) }
  }

  @Test func `valid names are accepted`() throws {
    try NameRules.requireInterface("org.example.A1")
    try NameRules.requireBusName(":1.42")
    try NameRules.requireBusName("org.example-x.A1")
    try NameRules.requireMember("Get_1")
  }
}
