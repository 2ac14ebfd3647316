import Bus
import Names
import ScanGate

/// Whose taps these are: a user in a session. Where there is no logind, a user.
struct SessionKey: Hashable, Sendable, CustomStringConvertible {
  /// logind's id; nil with `Sessions=any`.
  let id: String?
  let uid: UInt32

  var description: String { id.map { "session \($0) of user \(uid)" } ?? "user \(uid)" }
}

/// What only an agent's session knows. What the agent does not say is unknown.
struct SessionReport: Hashable, Sendable {
  var locked = Fact.unknown
  var displayOff = Fact.unknown
  var camera = Fact.unknown
  var airplaneMode = Fact.unknown

  init() {}

  /// What an agent says of all conditions: one that it does not name is one that it knows nothing of, any more.
  init(_ conditions: [String: Bool]) {
    locked = Fact(conditions[Names.Condition.locked])
    displayOff = Fact(conditions[Names.Condition.displayOff])
    camera = Fact(conditions[Names.Condition.camera])
    airplaneMode = Fact(conditions[Names.Condition.airplaneMode])
  }
}

/// A registered agent.
struct Agent: Hashable, Sendable {
  /// Its unique bus name.
  let sender: String
  /// Where it exports its interface.
  let path: ObjectPath
  /// The session it serves.
  let session: SessionKey
  var report = SessionReport()

  init(sender: String, path: ObjectPath, session: SessionKey) {
    self.sender = sender
    self.path = path
    self.session = session
  }
}
