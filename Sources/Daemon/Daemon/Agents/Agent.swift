import Bus
import Names
import Presence

/// The session that a tap belongs to; with `Sessions=any`, and for the user of a station, the user.
struct SessionKey: Hashable, Sendable, CustomStringConvertible {
  /// logind's id; nil with `Sessions=any`, and for the user of a station.
  let id: String?
  let uid: UInt32

  var description: String { id.map { "session \($0) of user \(uid)" } ?? "user \(uid)" }
}

/// The conditions that an agent reports about its session.
struct SessionReport: Hashable, Sendable {
  var locked = Fact.unknown
  var displayOff = Fact.unknown
  var camera = Fact.unknown
  var airplaneMode = Fact.unknown

  /// A condition that the report does not contain is unknown.
  init(_ conditions: [String: Bool] = [:]) {
    locked = Fact(conditions[Names.Condition.locked])
    displayOff = Fact(conditions[Names.Condition.displayOff])
    camera = Fact(conditions[Names.Condition.camera])
    airplaneMode = Fact(conditions[Names.Condition.airplaneMode])
  }
}

struct Agent: Hashable, Sendable {
  /// Its unique bus name.
  let sender: String
  /// The object with its interface.
  var path: ObjectPath
  let session: SessionKey
  var report = SessionReport()
}
