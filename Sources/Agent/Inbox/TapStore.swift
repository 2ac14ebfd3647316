import CSQLite
import NDEF
import Names

/// The taps in one database, in memory or in a file: typed rows over ``Database``, without any policy.
final class TapStore {
  let database: Database
  /// After the last use, to notice changes by other programs.
  var stamp: InboxFile.Stamp?

  /// Opens a file, or `":memory:"`, with the limit of ``Inbox/init(_:retention:maximumPages:now:notice:report:)``.
  /// Throws if it cannot be opened, or is damaged; `SQLITE_MISMATCH` if it has a newer schema, or far more taps than an
  /// inbox has: to read and remove those would take the agent's start, and its memory.
  init(path: String, maximumPages: Int = 0) throws(SQLiteError) {
    database = try Database(path: path)
    // One fsync per commit keeps the file whole after a power cut:
    // https://www.sqlite.org/pragma.html#pragma_synchronous
    try database.run("PRAGMA journal_mode = WAL")
    try database.run("PRAGMA synchronous = FULL")
    // Overwrite deleted rows: they hold tag contents.
    try database.run("PRAGMA secure_delete = ON")
    // Keep those out of temporary files, too.
    try database.run("PRAGMA temp_store = MEMORY")
    try Schema.prepare(database)
    // An offset reads no more than the rows before it.
    guard try database.run("SELECT 1 FROM taps LIMIT 1 OFFSET \(Self.mostTaps)").isEmpty else {
      throw SQLiteError(code: SQLITE_MISMATCH, message: "it has more than \(Self.mostTaps) taps")
    }
    if maximumPages > 0 { try database.run("PRAGMA max_page_count = \(maximumPages)") }
  }

  /// The settings allow 100,000 taps, and ``Retention/maximumOutgoing`` of those that wait to be sent.
  static let mostTaps = 150_000

  /// Adds a tap, or updates the one with its id in the columns that can change. Returns its sequence number.
  func put(_ tap: Tap) throws(SQLiteError) -> Int64 {
    let read = tap.read
    let rows = try database.run(
      """
      INSERT INTO taps (id, time, message, technology, uid, reader, uri, title, handler, state, changed, reason_code,
        reason, screen_bus, screen_owner, screen_id, outgoing, rule, program)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET
        handler = excluded.handler, rule = excluded.rule, program = excluded.program, state = excluded.state, changed = excluded.changed,
        reason_code = excluded.reason_code, reason = excluded.reason, screen_bus = excluded.screen_bus,
        screen_owner = excluded.screen_owner, screen_id = excluded.screen_id, outgoing = excluded.outgoing
      RETURNING sequence
      """,
      [
        .text(tap.id), .integer(tap.time.microseconds), .blob(read.bytes), .text(read.technology), .blob(read.uid),
        .text(read.reader), SQLiteValue(tap.uri), .text(tap.title), SQLiteValue(tap.receiver.handler),
        .text(tap.state.rawValue), .integer(tap.changed.microseconds), .text(tap.reason.code.rawValue),
        .text(tap.reason.detail), SQLiteValue(tap.place?.bus), SQLiteValue(tap.place?.owner),
        tap.place.map { .integer(Int64($0.id)) } ?? .null, .integer(tap.isOutgoing ? 1 : 0),
        SQLiteValue(tap.receiver.rule), SQLiteValue(tap.receiver.program),
      ])
    return rows.first?.first?.asInteger ?? 0
  }

  func remove(_ id: String) throws(SQLiteError) {
    try database.run("DELETE FROM taps WHERE id = ?", [.text(id)])
  }

  func tap(_ id: String) throws(SQLiteError) -> ListedTap? {
    try database.run("SELECT \(TapStore.whole) FROM taps WHERE id = ?", [.text(id)]).first.flatMap(ListedTap.init)
  }

  /// Those that are not over, and those that a notification may still show.
  func liveTaps() throws(SQLiteError) -> [ListedTap] {
    let unfinished = try database.run(
      TapStore.byArrival(TapStore.whole, [.opening, .received, .shown, .failed], where: "true", newestFirst: false)
    ).compactMap(ListedTap.init)
    let onScreen = try database.run("SELECT \(TapStore.whole) FROM taps WHERE screen_id IS NOT NULL")
    return unfinished + onScreen.compactMap(ListedTap.init).filter { $0.stored.isOver }
  }

  /// Of a ``ListedTap``.
  private static let whole = """
    id, time, message, technology, uid, reader, uri, title, handler, state, changed, reason_code, reason, screen_bus, screen_owner,
    screen_id, sequence, outgoing, rule, program
    """

  // MARK: Notifications that show no tap

  /// In the order in which they were added.
  func otherPlaces() throws(SQLiteError) -> [NotificationPlace] {
    let rows = try database.run("SELECT bus, owner, id FROM other_places ORDER BY number")
    return rows.compactMap { $0.count == 3 ? NotificationPlace($0[0], $0[1], $0[2]) : nil }
  }

  /// Replaces those in the file.
  func setOtherPlaces(_ places: [NotificationPlace]) throws(SQLiteError) {
    let present = Set(try otherPlaces())
    for place in present.subtracting(places) {
      try database.run("DELETE FROM other_places WHERE bus = ? AND owner = ? AND id = ?", Self.values(place))
    }
    for place in places where !present.contains(place) {
      try database.run("INSERT OR IGNORE INTO other_places (bus, owner, id) VALUES (?, ?, ?)", Self.values(place))
    }
  }

  private static func values(_ place: NotificationPlace) -> [SQLiteValue] {
    [.text(place.bus), .text(place.owner), .integer(Int64(place.id))]
  }

  // MARK: Bounds

  /// As ``Tap/isOver`` defines them.
  private static let finishedStates: [TapState] = [.delivered, .dismissed, .expired, .failedOffScreen]

  /// Without the taps that wait to be sent.
  func count() throws(SQLiteError) -> Int {
    let all = Int(try database.run("SELECT count(*) FROM taps").first?.first?.asInteger ?? 0)
    return try all - outgoingCount()
  }

  /// Removes finished taps older than `time`, then the oldest finished ones beyond `maximum`; returns their ids. Taps
  /// that wait to be sent stay, and do not count.
  func remove(before time: Timestamp, keeping maximum: Int) throws(SQLiteError) -> [String] {
    var removed: [String] = []
    for state in TapStore.finishedStates {
      removed += try change(
        "DELETE FROM taps WHERE state = ? AND outgoing = 0 AND time < ?",
        [.text(state.rawValue), .integer(time.microseconds)])
    }
    let excess = try count() - maximum
    guard excess > 0 else { return removed }
    let oldest = TapStore.byArrival("sequence", TapStore.finishedStates, where: "outgoing = 0", newestFirst: false)
    return try removed
      + change("DELETE FROM taps WHERE sequence IN (\(oldest) LIMIT ?)", [.integer(Int64(excess))])
  }

  /// Returns the ids of the deleted or updated taps.
  func change(_ statement: String, _ bindings: [SQLiteValue]) throws(SQLiteError) -> [String] {
    try database.run(statement + " RETURNING id", bindings).compactMap { $0.first?.asText }
  }
}

extension ListedTap {
  /// Reads the columns of `TapStore.whole`.
  fileprivate init?(_ row: [SQLiteValue]) {
    guard row.count == 20, let id = row[0].asText, let time = row[1].asInteger, let message = row[2].asBlob,
      let technology = row[3].asText, let uid = row[4].asBlob, let reader = row[5].asText, let title = row[7].asText,
      let state = row[9].asText.flatMap(TapState.init), let changed = row[10].asInteger,
      let sequence = row[16].asInteger, let outgoing = row[17].asInteger
    else { return nil }
    let reason = TapReason(row[11], row[12])
    // If a rule has acted on a damaged tag, no reason is stored, and the bytes say that they are no message.
    let read = TagRead(
      id: id, time: UInt64(clamping: time), reader: reader, technology: technology, uid: uid, bytes: message,
      damage: reason.code == .damaged ? reason.detail : "")
    stored = Tap(
      read, uri: row[6].asText, title: title,
      receiver: TapReceiver(handler: row[8].asText, rule: row[18].asText, program: row[19].asText), state: state,
      changed: Timestamp(microseconds: changed), reason: reason,
      place: NotificationPlace(row[13], row[14], row[15]), isOutgoing: outgoing != 0)
    self.sequence = sequence
  }
}

extension TapSummary {
  init?(_ row: [SQLiteValue]) {
    guard row.count == 12, let id = row[0].asText, let time = row[1].asInteger, let title = row[3].asText,
      let state = row[5].asText.flatMap(TapState.init), let changed = row[6].asInteger, let sequence = row[9].asInteger
    else { return nil }
    self.init(
      id: id, time: Timestamp(microseconds: time), uri: row[2].asText, title: title,
      receiver: TapReceiver(handler: row[4].asText, rule: row[10].asText, program: row[11].asText),
      state: state, changed: Timestamp(microseconds: changed), reason: TapReason(row[7], row[8]), sequence: sequence)
  }
}

extension TapReason {
  fileprivate init(_ code: SQLiteValue, _ detail: SQLiteValue) {
    self.init(Code(rawValue: code.asText ?? ""), detail: detail.asText ?? "")
  }
}

extension NotificationPlace {
  fileprivate init?(_ bus: SQLiteValue, _ owner: SQLiteValue, _ id: SQLiteValue) {
    guard let bus = bus.asText, let owner = owner.asText, let id = id.asInteger.flatMap({ UInt32(exactly: $0) }) else {
      return nil
    }
    self.init(bus: bus, owner: owner, id: id)
  }
}

/// Parts of a large store. An index finds each of them, so that SQLite reads only the rows that it returns.
extension TapStore {
  /// Removes the taps on the screen that are asked for, and at most `limit` others; returns their ids.
  func remove(_ clearing: InboxClearing, limit: Int) throws(SQLiteError) -> [String] {
    let end = SQLiteValue.integer(clearing.before?.microseconds ?? .max)
    var removed: [String] = []
    if clearing.includesOnScreen {
      let asked = clearing.ids.map { clearing.onScreen.intersection($0) } ?? clearing.onScreen
      removed += try remove(asked, where: "state <> '\(TapState.opening.rawValue)'", before: end)
    }
    if let ids = clearing.ids {
      let finished = TapStore.finishedStates.map { "state = '\($0.rawValue)'" }
      return try removed
        + remove(Set(ids).subtracting(clearing.onScreen), where: finished.joined(separator: " OR "), before: end)
    }
    let kept = clearing.onScreen.map(SQLiteValue.text)
    let parameters = kept.map { _ in "?" }.joined(separator: ", ")
    for state in TapStore.finishedStates where removed.count < limit {
      removed += try change(
        """
        DELETE FROM taps WHERE sequence IN (
          SELECT sequence FROM taps
          WHERE state = ? AND time < ? AND id NOT IN (\(parameters)) LIMIT ?)
        """, [.text(state.rawValue), end] + kept + [.integer(Int64(limit - removed.count))])
    }
    return removed
  }

  private func remove(
    _ ids: Set<String>, where condition: String, before end: SQLiteValue
  ) throws(SQLiteError) -> [String] {
    var removed: [String] = []
    for id in ids {
      removed += try change("DELETE FROM taps WHERE id = ? AND (\(condition)) AND time < ?", [.text(id), end])
    }
    return removed
  }

  /// Overwrites deleted rows in the file and in its write-ahead log, and shortens a file that is mostly empty.
  func compact() throws(SQLiteError) {
    let pages = try database.run("PRAGMA page_count").first?.first?.asInteger ?? 0
    let free = try database.run("PRAGMA freelist_count").first?.first?.asInteger ?? 0
    let used = pages - free
    // VACUUM copies the used pages. A tap may have to wait for that, so copy no more than 8 MiB.
    if free > used && used <= 2048 { try database.run("VACUUM") }
    try database.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}

/// The taps that wait to be sent. A partial index has only these, so the history does not matter.
extension TapStore {
  /// A tap that waits, without its contents.
  struct Outgoing {
    var id: String
    var time: Timestamp
    var sequence: Int64
  }

  /// The first `limit` with sequence numbers above `sequence`, lowest number first.
  func outgoing(after sequence: Int64, limit: Int) throws(SQLiteError) -> [Outgoing] {
    let rows = try database.run(
      "SELECT id, time, sequence FROM taps WHERE outgoing = 1 AND sequence > ?1 ORDER BY sequence LIMIT ?2",
      [.integer(sequence), .integer(Int64(limit))])
    return rows.compactMap { row in
      guard row.count == 3, let id = row[0].asText, let time = row[1].asInteger, let sequence = row[2].asInteger else {
        return nil
      }
      return Outgoing(id: id, time: Timestamp(microseconds: time), sequence: sequence)
    }
  }

  func outgoingCount() throws(SQLiteError) -> Int {
    Int(try database.run("SELECT count(*) FROM taps WHERE outgoing = 1").first?.first?.asInteger ?? 0)
  }

  func isOutgoing(_ id: String) throws(SQLiteError) -> Bool {
    try !database.run("SELECT 1 FROM taps WHERE id = ? AND outgoing = 1", [.text(id)]).isEmpty
  }

  func acknowledge(_ id: String) throws(SQLiteError) {
    try database.run("UPDATE taps SET outgoing = 0 WHERE id = ? AND outgoing = 1", [.text(id)])
  }

  /// Gives up those that were read before `time`, and the first ones beyond `maximum`. Counts them, and returns their
  /// ids. The taps stay in the history.
  func giveUpOutgoing(before time: Timestamp?, keeping maximum: Int) throws(SQLiteError) -> [String] {
    var dropped: [String] = []
    if let time {
      dropped += try change(
        "UPDATE taps SET outgoing = 0 WHERE outgoing = 1 AND time < ?", [.integer(time.microseconds)])
    }
    let excess = try outgoingCount() - maximum
    if excess > 0 {
      dropped += try change(
        """
        UPDATE taps SET outgoing = 0 WHERE sequence IN (
          SELECT sequence FROM taps WHERE outgoing = 1 ORDER BY sequence LIMIT ?)
        """, [.integer(Int64(excess))])
    }
    if !dropped.isEmpty { try addDropped(Int64(dropped.count)) }
    return dropped
  }

  /// How many taps were removed or given up unsent, since the file was created. A trigger counts the removed ones.
  func dropped() throws(SQLiteError) -> Int64 {
    try database.run("SELECT dropped FROM outbox").first?.first?.asInteger ?? 0
  }

  func addDropped(_ count: Int64) throws(SQLiteError) {
    try database.run("UPDATE outbox SET dropped = dropped + ?", [.integer(count)])
  }
}

enum Schema {
  /// `PRAGMA user_version` of a file with these tables. A released schema never changes: a new shape gets a new number,
  /// and statements that lead there from this one.
  static let version: Int64 = 6

  static let statements = [
    // `screen_…`: the place of the tap's notification. `outgoing`: the tap waits to be sent to other machines.
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
      reason TEXT NOT NULL DEFAULT '',
      reason_code TEXT NOT NULL DEFAULT '',
      screen_bus TEXT,
      screen_owner TEXT,
      screen_id INTEGER,
      outgoing INTEGER NOT NULL DEFAULT 0,
      rule TEXT,
      program TEXT
    ) STRICT
    """,
    "CREATE INDEX taps_by_time ON taps (time)",
    "CREATE INDEX taps_by_state ON taps (state, sequence)",
    "CREATE INDEX taps_by_state_and_time ON taps (state, time)",
    "CREATE INDEX taps_on_screen ON taps (screen_id) WHERE screen_id IS NOT NULL",
    "CREATE INDEX taps_outgoing ON taps (outgoing, sequence) WHERE outgoing = 1",
    // Notifications on the screen that show no tap of the inbox, or a removed one. The next run closes them.
    """
    CREATE TABLE other_places (
      number INTEGER PRIMARY KEY, bus TEXT NOT NULL, owner TEXT NOT NULL, id INTEGER NOT NULL, UNIQUE (id, owner, bus)
    ) STRICT
    """,
    """
    CREATE TRIGGER taps_leave_places AFTER DELETE ON taps WHEN old.screen_id IS NOT NULL BEGIN
      INSERT OR IGNORE INTO other_places (bus, owner, id) VALUES (old.screen_bus, old.screen_owner, old.screen_id);
    END
    """,
    """
    CREATE TRIGGER other_places_are_bounded AFTER INSERT ON other_places BEGIN
      DELETE FROM other_places WHERE number <= new.number - 256;
    END
    """,
    // How many taps that waited to be sent were removed unsent.
    "CREATE TABLE outbox (number INTEGER PRIMARY KEY CHECK (number = 1), dropped INTEGER NOT NULL) STRICT",
    "INSERT INTO outbox (number, dropped) VALUES (1, 0)",
    """
    CREATE TRIGGER taps_leave_outbox AFTER DELETE ON taps WHEN old.outgoing = 1 BEGIN
      UPDATE outbox SET dropped = dropped + 1;
    END
    """,
  ]

  /// The statements that lead from an earlier version to the present one.
  static let upgrades: [Int64: [String]] = [
    // The rule that decided, and its program.
    4: ["ALTER TABLE taps ADD COLUMN rule TEXT", "ALTER TABLE taps ADD COLUMN program TEXT", failedOffScreen],
    5: [failedOffScreen, reasonWithoutRule],
  ]

  /// Gives taps that failed, and are over, a state of their own.
  private static let failedOffScreen = """
    UPDATE taps SET state = 'failed-off-screen'
    WHERE state = 'failed' AND reason_code IN ('refused', 'damaged')
      OR state = 'expired' AND reason_code NOT IN ('', 'made-room', 'overdue')
    """

  /// The reason named the rule, which has a column of its own.
  private static let reasonWithoutRule = """
    UPDATE taps SET reason = substr(reason, length('rule ' || rule || ': ') + 1)
    WHERE reason_code IN ('command-failed', 'command-missing')
      AND substr(reason, 1, length('rule ' || rule || ': ')) = 'rule ' || rule || ': '
    """

  /// Makes the tables in a new database, or changes those of an earlier version. Throws `SQLITE_MISMATCH` if the file has
  /// a newer version, or an earlier one that is not in the list.
  static func prepare(_ database: Database) throws(SQLiteError) {
    let found = try database.run("PRAGMA user_version").first?.first?.asInteger ?? 0
    guard found != version else { return }
    guard let steps = found == 0 ? statements : upgrades[found] else {
      throw SQLiteError(code: SQLITE_MISMATCH, message: "schema version \(found) instead of \(version)")
    }
    try database.transaction { () throws(SQLiteError) in
      for statement in steps { try database.run(statement) }
      try database.run("PRAGMA user_version = \(version)")
    }
  }
}
