import Bus
import ScanGate

/// Whose taps these are: a user in a session. Where there is no logind, a user.
struct SessionKey: Hashable, Sendable, CustomStringConvertible {
  /// logind's id; nil with `Sessions=any`.
  let id: String?
  let uid: UInt32

  var description: String { id.map { "session \($0) of user \(uid)" } ?? "user \(uid)" }
}

/// What an agent's session is the only one to know. An agent that says nothing leaves it unknown.
struct SessionReport: Hashable, Sendable {
  var locked = Fact.unknown
  var displayOff = Fact.unknown
  var camera = Fact.unknown

  /// Takes over the conditions that are known here and named, and leaves the others as they are.
  mutating func merge(_ conditions: [String: Bool]) {
    if let value = conditions["locked"] { locked = Fact(value) }
    if let value = conditions["display-off"] { displayOff = Fact(value) }
    if let value = conditions["camera"] { camera = Fact(value) }
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
