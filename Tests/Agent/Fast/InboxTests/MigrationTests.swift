import Rig
import Testing

@testable import Inbox

/// Files of earlier versions, created by the statements of those versions.
struct MigrationTests {
  private let temporary: TemporaryDirectory
  private let reports = Reports()

  init() throws { temporary = try TemporaryDirectory() }

  /// An inbox whose file these statements have made. The last one has the values.
  private func inbox(
    _ schema: [String], _ insertion: String, _ values: [SQLiteValue] = [], at time: Timestamp = sampleTime
  ) throws -> Inbox {
    do {
      let database = try Database(path: temporary.path + "/inbox.sqlite")
      for statement in schema { try database.run(statement) }
      try database.run(insertion, values)
    }
    return Inbox(.file(directory: temporary.path, name: "inbox.sqlite"), now: { time }, report: reports.report)
  }

  /// The first released schema, verbatim.
  private static let version1 = [
    """
    CREATE TABLE taps (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      time INTEGER NOT NULL,
      message BLOB NOT NULL,
      technology TEXT NOT NULL,
      uid BLOB NOT NULL,
      reader TEXT NOT NULL,
      uri TEXT,
      title TEXT NOT NULL,
      handler TEXT,
      state TEXT NOT NULL,
      changed INTEGER NOT NULL,
      reason TEXT NOT NULL DEFAULT ''
    ) STRICT
    """,
    "CREATE INDEX taps_by_time ON taps (time)",
    "CREATE INDEX taps_by_state ON taps (state, sequence)",
    "PRAGMA user_version = 1",
  ]

  private static let insertion = """
    INSERT INTO taps (id, time, message, technology, uid, reader, uri, title, handler, state, changed, reason)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """

  @Test(arguments: [
    ("received", "", TapReason.none),
    ("dismissed", "the same tag was read again", TapReason(.tappedAgain)),
    ("expired", "newer taps took its place on the screen", TapReason(.madeRoom)),
    ("failed", "the agent ended while it was being opened; it may have been opened", TapReason(.endedWhileOpening)),
    (
      "failed", "x.desktop did not answer within 25 s; it may have been opened",
      TapReason(.noAnswer, detail: "x.desktop did not answer within 25 s")
    ),
    ("failed", "x.desktop did not take it: no", TapReason(.none, detail: "x.desktop did not take it: no")),
    (
      "failed", "the scheme javascript is never opened",
      TapReason(.refused, detail: "the scheme javascript is never opened")
    ),
    (
      "failed", "did not take it: it may have been opened.",
      TapReason(.none, detail: "did not take it: it may have been opened.")
    ),
  ])
  func `a file of version 1 is migrated with all its data`(
    state: String, sentence: String, reason: TapReason
  ) async throws {
    let tap = sampleTap("a", uri: reason.code == .refused ? nil : "https://menu.example.com/table/4")
    let inbox = try inbox(
      Self.version1, Self.insertion,
      [
        .text(tap.id), .integer(tap.time.microseconds), .blob(tap.message), .text(tap.technology), .blob(tap.uid),
        .text(tap.reader), SQLiteValue(tap.uri), .text(tap.title), SQLiteValue(tap.handler), .text(state),
        .integer(sampleTime.microseconds), .text(sentence),
      ])
    let stored = StoredTap(
      tap: tap, state: try #require(TapState(rawValue: state)), changed: sampleTime, reason: reason)
    #expect(try await inbox.tap("a") == stored)
    #expect(try await inbox.list().map(\.reason) == [reason])
    #expect(await inbox.receive(sampleTap("b")).isNew)
    #expect(reports.all.isEmpty)
  }

  /// The second released schema: the steps that migrate the first one to it.
  private static let version2 = [
    "ALTER TABLE taps ADD COLUMN reason_code TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE taps ADD COLUMN screen_bus TEXT",
    "ALTER TABLE taps ADD COLUMN screen_owner TEXT",
    "ALTER TABLE taps ADD COLUMN screen_id INTEGER",
    "CREATE INDEX taps_on_screen ON taps (screen_id) WHERE screen_id IS NOT NULL",
    "CREATE INDEX taps_by_state_and_time ON taps (state, time)",
    "PRAGMA user_version = 2",
  ]

  @Test func `a file of version 2 is migrated, and then also stores notifications without a tap`() async throws {
    let inbox = try inbox(
      Array(Self.version1.dropLast()) + Self.version2,
      """
      INSERT INTO taps (id, time, message, technology, uid, reader, title, state, changed, screen_bus, screen_owner, screen_id)
      VALUES ('a', 0, x'', '', x'', '', '', 'dismissed', 0, 'bus', ':1.7', 5)
      """, at: Timestamp(microseconds: 1))
    let left = await inbox.resume(maximum: 10)
    #expect(left.places == ["a": place(5)] && left.otherPlaces.isEmpty)
    await inbox.showOther(at: place(6))
    #expect(try await inbox.clear(InboxClearing()) == ["a"])
    #expect(await inbox.resume(maximum: 10).otherPlaces == [place(6), place(5)])
    #expect(reports.all.isEmpty)
  }

  @Test func `a file of version 3 is migrated, its taps do not wait to be sent, and new ones may`() async throws {
    let inbox = try inbox(
      Array(Schema.steps.prefix(3).joined()) + ["PRAGMA user_version = 3"],
      """
      INSERT INTO taps (id, time, message, technology, uid, reader, title, state, changed)
      VALUES ('a', 0, x'', '', x'', '', '', 'shown', 0)
      """, at: Timestamp(microseconds: 1))
    #expect(await inbox.outgoingCounts() == OutgoingCounts(waiting: 0, oldest: nil, dropped: 0))
    #expect(try await !inbox.tap("a").isOutgoing)
    #expect(await inbox.receive(sampleTap("b"), outgoing: true).isNew)
    #expect(await inbox.outgoing(limit: 10, bytes: 1000).map(\.stored.tap.id) == ["b"])
    #expect(reports.all.isEmpty)
  }

  @Test func `a reason is one line of limited length, and an unknown reason code is kept`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    _ = await inbox.receive(sampleTap("a"))
    let words = "no\n\u{1B}[2J" + String(repeating: "x", count: 10_000)
    try await inbox.move("a", to: .failed, reason: TapReason(.init(rawValue: "later"), detail: words))
    let reason = try await inbox.tap("a").reason
    #expect(reason.code.rawValue == "later")
    #expect(reason.detail.hasPrefix("no  [2Jxxx"))
    #expect(reason.detail.unicodeScalars.count == TapReason.maximumDetail)
  }
}
