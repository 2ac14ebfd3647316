/// What is on the screen: where each tap is shown, and what else is there.
///
/// A tap that is removed while its notification may be up leaves its place among the others (``Schema``).
extension TapStore {
  /// Notes where a tap is shown; returns whether there is such a tap.
  func put(_ id: String, at place: ScreenPlace) throws(SQLiteError) -> Bool {
    try database.run(
      "UPDATE taps SET screen_bus = ?, screen_owner = ?, screen_id = ? WHERE id = ?",
      [.text(place.bus), .text(place.owner), .integer(Int64(place.id)), .text(id)])
    return database.changes == 1
  }

  /// Notes that nothing is there any more.
  func leave(_ place: ScreenPlace) throws(SQLiteError) {
    try database.run(
      """
      UPDATE taps SET screen_bus = NULL, screen_owner = NULL, screen_id = NULL
      WHERE screen_id = ? AND screen_owner = ? AND screen_bus = ?
      """, [.integer(Int64(place.id)), .text(place.owner), .text(place.bus)])
    try removeOther(at: place)
  }

  /// Where each tap is shown that has a place.
  func places() throws(SQLiteError) -> [String: ScreenPlace] {
    let rows = try database.run(
      "SELECT id, screen_bus, screen_owner, screen_id FROM taps WHERE screen_id IS NOT NULL")
    var places: [String: ScreenPlace] = [:]
    for row in rows where row.count == 4 {
      guard let id = row[0].asText, let place = ScreenPlace(row[1], row[2], row[3]) else { continue }
      places[id] = place
    }
    return places
  }

  // MARK: What shows no tap

  /// Notes a notification that shows no tap.
  func putOther(at place: ScreenPlace) throws(SQLiteError) {
    try database.run(
      "INSERT OR IGNORE INTO other_places (bus, owner, id) VALUES (?, ?, ?)",
      [.text(place.bus), .text(place.owner), .integer(Int64(place.id))])
  }

  /// Notes that it is gone, or shows a tap.
  func removeOther(at place: ScreenPlace) throws(SQLiteError) {
    try database.run(
      "DELETE FROM other_places WHERE id = ? AND owner = ? AND bus = ?",
      [.integer(Int64(place.id)), .text(place.owner), .text(place.bus)])
  }

  /// Forgets all of them.
  func removeOtherPlaces() throws(SQLiteError) { try database.run("DELETE FROM other_places") }

  /// All of them, in the order in which they came.
  func otherPlaces() throws(SQLiteError) -> [ScreenPlace] {
    let rows = try database.run("SELECT bus, owner, id FROM other_places ORDER BY number")
    return rows.compactMap { $0.count == 3 ? ScreenPlace($0[0], $0[1], $0[2]) : nil }
  }
}

extension ScreenPlace {
  init?(_ bus: SQLiteValue, _ owner: SQLiteValue, _ id: SQLiteValue) {
    guard let bus = bus.asText, let owner = owner.asText, let id = id.asInteger.flatMap({ UInt32(exactly: $0) }) else {
      return nil
    }
    self.init(bus: bus, owner: owner, id: id)
  }
}
