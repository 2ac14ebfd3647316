import Bus

/// A session as logind describes it (org.freedesktop.login1(5), "Session Objects").
package struct LoginSession: Sendable, Hashable {
  /// logind's name for the session.
  package let id: String
  /// The session's user.
  package let uid: UInt32
  /// The seat; empty for a session without one. No person sits at such a session.
  package internal(set) var seat: String
  /// `x11`, `wayland`, `mir`, `tty`, `web` or `unspecified`.
  package internal(set) var type: String
  /// `user`, `greeter`, `lock-screen`, `background`, `manager` and others.
  package internal(set) var sessionClass: String
  /// The session comes from another machine.
  package internal(set) var isRemote: Bool
  /// The session is in the foreground of its seat. A session without a seat always is.
  package internal(set) var isActive: Bool
  /// `online`, `active` or `closing`.
  package internal(set) var state: String
  /// Whether its screen is locked, combined from all sources.
  package internal(set) var lock = LockState()

  /// Whether it has a graphical display.
  package var isGraphical: Bool { ["x11", "wayland", "mir"].contains(type) }

  /// Whether a user may run an agent in it: a user's own session, on a seat of this machine, that is not closing.
  package var isEligible: Bool {
    sessionClass == "user" && !isRemote && !seat.isEmpty && state != "closing"
  }

  /// The session's conditions, for the gate.
  package var conditions: ScanConditions.Session {
    ScanConditions.Session(
      isActive: Fact(isActive && state != "closing"), isLocal: Fact(!isRemote), isGraphical: Fact(isGraphical),
      isUserSession: Fact(sessionClass == "user"), isLocked: lock.isLocked, hasBeenUnlocked: lock.hasBeenUnlocked,
      hasBeenSaidUnlocked: lock.hasBeenSaidUnlocked)
  }

  /// Reads all properties of a session; nil if a required one is missing or has another type.
  init?(properties: [String: Value]) {
    guard let id = properties["Id"]?.asString, let uid = properties["User"]?.asStructure?.first?.asUInt32,
      let seat = properties["Seat"]?.asStructure?.first?.asString, let type = properties["Type"]?.asString,
      let sessionClass = properties["Class"]?.asString, let isRemote = properties["Remote"]?.asBool,
      let isActive = properties["Active"]?.asBool, let state = properties["State"]?.asString
    else { return nil }
    self.id = id
    self.uid = uid
    self.seat = seat
    self.type = type
    self.sessionClass = sessionClass
    self.isRemote = isRemote
    self.isActive = isActive
    self.state = state
    // elogind before 241 has no hint, so the lock stays unknown.
    if let hint = properties["LockedHint"]?.asBool { lock.handle(.hintRead(hint)) }
  }

  /// Applies the values of a PropertiesChanged signal.
  mutating func merge(_ properties: [String: Value]) {
    if let value = properties["Type"]?.asString { type = value }
    if let value = properties["Class"]?.asString { sessionClass = value }
    if let value = properties["Active"]?.asBool { isActive = value }
    if let value = properties["State"]?.asString { state = value }
    if let value = properties["LockedHint"]?.asBool { lock.handle(.hintChanged(value)) }
  }

  /// Replaces the properties by those of a new reading, and keeps the remembered lock.
  mutating func replace(with properties: [String: Value]) {
    guard let new = LoginSession(properties: properties), new.id == id, new.uid == uid else { return }
    var lock = lock
    if let hint = properties["LockedHint"]?.asBool { lock.handle(.hintRead(hint)) }
    self = new
    self.lock = lock
  }
}
