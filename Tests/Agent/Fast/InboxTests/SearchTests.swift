import NDEF
import Names
import Rig
import Testing

@testable import Inbox

/// Lists and counts of taps with a text, a handler, a technology or a reader.
struct SearchTests {
  private static let taps: [Tap] = [
    tap("a", "Speisekarte 献立 100%", uri: "https://menu.example.com/table_4", "org.example.Menu.desktop"),
    tap("b", "Übergabe Straße", uri: nil, nil, rule: "Öffne [das] Tor", technology: "type-4a"),
    tap("c", "МЕНЮ", uri: "https://menu.example.com/tableX4", "org.example.Menu.desktop", reader: "/reader/1"),
    tap("d", "back\\slash 'quoted' * ?", uri: "tel:112", "org.example.Phone.desktop", technology: "type-4a"),
  ]

  private static func tap(
    _ id: String, _ title: String, uri: String?, _ handler: String?, rule: String? = nil,
    technology: String = "type-2", reader: String = "/reader/0"
  ) -> Tap {
    Tap(
      TagRead(id: id, time: 1, reader: reader, technology: technology, uid: [], bytes: []), uri: uri, title: title,
      receiver: TapReceiver(handler: handler, rule: rule))
  }

  /// The first keeps all taps in its file, and the second one in memory.
  private func inboxes() async -> [Inbox] {
    let inboxes = [Inbox.Location.memory, .memoryWhileOpen()].map {
      Inbox($0, now: { sampleTime }, report: { _ in })
    }
    for inbox in inboxes { for tap in Self.taps { _ = await inbox.receive(tap) } }
    return inboxes
  }

  @Test(arguments: [
    ("SPEISE", "a"), ("menu.example", "ca"), ("org.example.phone", "d"), ("tor", "b"), ("table_4", "a"), ("%", "a"),
    (#"k\s"#, "d"), ("'quoted'", "d"), ("* ?", "d"), ("[DAS]", "b"), ("übergabe", "b"), ("ÜBERGABE", "b"),
    ("straße", "b"), ("öffne [", "b"), ("öffne *", ""), ("меню", "c"), ("Меню", "c"), ("献立", "a"), ("%\u{301}", ""),
    ("nothing", ""), (#"' OR 1 --"#, ""),
  ])
  func `a text is found in title, link, handler and rule, in any case and as it is written`(
    text: String, found: String
  ) async throws {
    for inbox in await inboxes() {
      let query = InboxQuery(text: text)
      #expect(try await inbox.list(query).map(\.id).joined() == found)
      #expect(try await inbox.count(query) == found.count)
    }
  }

  @Test(
    arguments: [
      (InboxQuery(), "dcba"), (InboxQuery(handler: "org.example.Menu.desktop"), "ca"),
      (InboxQuery(handler: "org.example.menu.desktop"), ""), (InboxQuery(technology: "type-4a"), "db"),
      (InboxQuery(reader: "/reader/1"), "c"), (InboxQuery(text: "e", technology: "type-4a", reader: "/reader/0"), "db"),
      (InboxQuery(states: [.dismissed]), ""), (InboxQuery(states: [.received], text: "menu"), "ca"),
      (InboxQuery(states: []), ""), (InboxQuery(text: "menu", before: "c"), "a"),
      (InboxQuery(states: [.received, .shown], newestFirst: false, before: "d"), "abc"),
    ] as [(InboxQuery, String)])
  func `parts of a query hold together, and a count has no limit`(query: InboxQuery, found: String) async throws {
    for inbox in await inboxes() {
      #expect(try await inbox.list(query).map(\.id).joined() == found)
      #expect(try await inbox.count(query) == found.count)
    }
  }

  @Test func `a count is not limited, and an unknown tap in it is an error`() async throws {
    for inbox in await inboxes() {
      let query = InboxQuery(limit: 1)
      #expect(try await inbox.list(query).count == 1)
      #expect(try await inbox.count(query) == 4)
      let error = await #expect(throws: InboxError.self) { try await inbox.count(InboxQuery(before: "nobody")) }
      #expect(error?.code == .unknownTap)
    }
  }

  @Test func `taps that the file lacks, or has in another state, are counted as memory has them`() async throws {
    let temporary = try TemporaryDirectory()
    let inbox = Inbox(.file(directory: temporary.path, name: "inbox.sqlite"), now: { sampleTime }, report: { _ in })
    for tap in Self.taps { _ = await inbox.receive(tap) }
    // The file cannot grow.
    await inbox.setMaximumPages(1)
    _ = await inbox.receive(sampleTap("e", message: [UInt8](repeating: 1, count: 100_000)))
    try await inbox.move("a", to: .dismissed)
    #expect(try await inbox.count(InboxQuery(text: "MENU.EXAMPLE")) == 3)
    #expect(try await inbox.count(InboxQuery(states: [.received], text: "menu.example")) == 2)
    #expect(try await inbox.list(InboxQuery(states: [.dismissed], text: "menu.example")).map(\.id) == ["a"])
    #expect(try await inbox.count(InboxQuery()) == 5)
  }
}
