import Bus
public import ScanGate

/// A session as logind describes it (org.freedesktop.login1(5), "Session Objects").
public struct LoginSession: Sendable, Hashable {
  /// logind's name for the session.
  public let id: String
  /// The user it belongs to.
  public let uid: UInt32
  /// The seat; empty for a session without one, which is one that nobody sits at.
  public internal(set) var seat: String
  /// `x11`, `wayland`, `mir`, `tty`, `web` or `unspecified`.
  public internal(set) var type: String
  /// `user`, `greeter`, `lock-screen`, `background`, `manager` and others.
  public internal(set) var sessionClass: String
  /// It comes from another machine.
  public internal(set) var isRemote: Bool
  /// It is in the foreground of its seat. A session without a seat always is.
  public internal(set) var isActive: Bool
  /// `online`, `active` or `closing`.
  public internal(set) var state: String
  /// Whether its screen is locked, from all who have a say.
  public internal(set) var lock = LockState()

  /// Whether it has a graphical display.
  public var isGraphical: Bool { ["x11", "wayland", "mir"].contains(type) }

  /// Whether a person may own an agent in it: a user's own session, on a seat of this machine, not on its way out.
  public var isEligible: Bool {
    sessionClass == "user" && !isRemote && !seat.isEmpty && state != "closing"
  }

  /// What the gate wants to know about the session.
  public var conditions: ScanConditions.Session {
    ScanConditions.Session(
      isActive: Fact(isActive && state != "closing"), isLocal: Fact(!isRemote), isGraphical: Fact(isGraphical),
      isUserSession: Fact(sessionClass == "user"), isLocked: lock.isLocked, hasBeenUnlocked: lock.hasBeenUnlocked,
      hasBeenSaidUnlocked: lock.hasBeenSaidUnlocked)
  }

  /// Reads all properties of a session; nil where one that decides is missing or has another type.
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
    // elogind before 241 has no hint: then the lock stays unknown.
    if let hint = properties["LockedHint"]?.asBool { lock.handle(.hintRead(hint)) }
  }

  /// Takes over what a PropertiesChanged signal says.
  mutating func merge(_ properties: [String: Value]) {
    if let value = properties["Type"]?.asString { type = value }
    if let value = properties["Class"]?.asString { sessionClass = value }
    if let value = properties["Active"]?.asBool { isActive = value }
    if let value = properties["State"]?.asString { state = value }
    if let value = properties["LockedHint"]?.asBool { lock.handle(.hintChanged(value)) }
  }

  /// Takes over what a new look at the same session says, and keeps what is remembered of its lock.
  mutating func replace(with properties: [String: Value]) {
    guard let new = LoginSession(properties: properties), new.id == id, new.uid == uid else { return }
    var lock = lock
    if let hint = properties["LockedHint"]?.asBool { lock.handle(.hintRead(hint)) }
    self = new
    self.lock = lock
  }
}
