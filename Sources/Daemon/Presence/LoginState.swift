package import Bus

/// All sessions of this machine and whether it sleeps, combined from logind's signals and the reports of agents.
///
/// Pure: `LoginMonitor` feeds it. While logind is not on the bus, no session is treated as active: its user may no
/// longer sit there, and a tap must not go to another person. The known locks are kept.
package struct LoginState: Sendable, Hashable {
  package enum Event: Sendable, Hashable {
    /// Its properties are not known yet.
    case announced(ObjectPath)
    /// All properties, as read.
    case read(ObjectPath, [String: Value])
    /// Some properties, from a signal.
    case changed(ObjectPath, [String: Value])
    /// The session at this path is gone.
    case removed(ObjectPath)
    /// The complete list.
    case listed([ObjectPath])
    /// Everything has been read.
    case synchronized
    case logindGone
    case sleeping(Bool)
    /// About the lock. `id` is that of the agent's session.
    case reported(id: String, locked: Fact)
    /// `id` is that of the agent's session.
    case reporterGone(id: String)
    /// `id` is that of the user's session.
    case userUnlocked(id: String)
  }

  private var sessionsByPath: [ObjectPath: LoginSession] = [:]
  /// New sessions only.
  private var unread: Set<ObjectPath> = []
  /// Whether logind can be asked.
  package private(set) var isAvailable = false
  /// The machine is about to sleep, or asleep.
  package private(set) var isSleeping = Fact.unknown
  /// Of logind. Its locks from before a departure are void.
  package private(set) var departures = 0

  package init() {}

  package mutating func handle(_ event: Event) {
    switch event {
    case .announced(let path):
      if sessionsByPath[path] == nil { unread.insert(path) }
    case .read(let path, let properties):
      unread.remove(path)
      guard let fresh = LoginSession(properties: properties) else { return }
      if sessionsByPath[path]?.id == fresh.id, sessionsByPath[path]?.uid == fresh.uid {
        sessionsByPath[path]?.replace(with: properties)
      } else {
        sessionsByPath[path] = fresh
      }
    case .changed(let path, let properties):
      sessionsByPath[path]?.merge(properties)
    case .removed(let path):
      unread.remove(path)
      sessionsByPath[path] = nil
    case .listed(let paths):
      let present = Set(paths)
      unread.formIntersection(present)
      sessionsByPath = sessionsByPath.filter { present.contains($0.key) }
    case .synchronized:
      isAvailable = true
    case .logindGone:
      isAvailable = false
      unread = []
      departures += 1
      isSleeping = .unknown
      for path in sessionsByPath.keys { sessionsByPath[path]?.lock.handle(.logindGone) }
    case .sleeping(let value):
      isSleeping = Fact(value)
    case .reported(let id, let locked): lock(.reported(locked), of: id)
    case .reporterGone(let id): lock(.reporterGone, of: id)
    case .userUnlocked(let id): lock(.userUnlocked, of: id)
    }
  }

  private mutating func lock(_ event: LockState.Event, of id: String) {
    for (path, session) in sessionsByPath where session.id == id { sessionsByPath[path]?.lock.handle(event) }
  }

  var paths: Dictionary<ObjectPath, LoginSession>.Keys { sessionsByPath.keys }

  /// Sorted by id.
  package var sessions: [LoginSession] {
    sessionsByPath.values.sorted { $0.id < $1.id }
  }

  /// Nil if there is none.
  package func session(_ id: String) -> LoginSession? {
    sessionsByPath.values.first { $0.id == id }
  }

  /// The session in the foreground of a seat, of any class; nil if there is none, and while logind is not on the bus.
  package func activeSession(on seat: String) -> LoginSession? {
    guard isAvailable else { return nil }
    return sessions.first { $0.seat == seat && $0.isActive && $0.state != "closing" }
  }

  /// Whether no user, or none but this one, is logged in at a seat, not even in the background. A login screen is not a
  /// user. False while this is not certain: a session is new, or logind is not on the bus.
  package func isFree(_ seat: String, for uid: UInt32?) -> Bool {
    isAvailable && unread.isEmpty
      && sessions.allSatisfy {
        $0.seat != seat || $0.uid == uid || $0.sessionClass == "greeter" || $0.state == "closing"
      }
  }

  /// The sessions of a user in which an agent may run, the most likely first: graphical before text, active before
  /// background. Empty while logind is not on the bus.
  package func eligibleSessions(of uid: UInt32) -> [LoginSession] {
    guard isAvailable else { return [] }
    let rank: (LoginSession) -> Int = { ($0.isGraphical ? 0 : 2) + ($0.isActive ? 0 : 1) }
    return sessions.filter { $0.uid == uid && $0.isEligible }.sorted { (rank($0), $0.id) < (rank($1), $1.id) }
  }
}

/// A session as logind describes it (org.freedesktop.login1(5), "Session Objects").
package struct LoginSession: Sendable, Hashable {
  /// As logind names it.
  package let id: String
  package let uid: UInt32
  /// Empty for a session without a seat. No person sits at such a session.
  package internal(set) var seat: String
  /// `x11`, `wayland`, `mir`, `tty`, `web` or `unspecified`.
  package internal(set) var type: String
  /// `user`, `greeter`, `lock-screen`, `background`, `manager` and others.
  package internal(set) var sessionClass: String
  package internal(set) var isRemote: Bool
  /// The session is in the foreground of its seat. A session without a seat always is.
  package internal(set) var isActive: Bool
  /// `online`, `active` or `closing`.
  package internal(set) var state: String
  /// Of its screen, combined from all sources.
  package internal(set) var lock = LockState()

  package var isGraphical: Bool { ["x11", "wayland", "mir"].contains(type) }

  /// Whether a user may run an agent in it: a user's own session, on a seat of this machine, that is not closing.
  package var isEligible: Bool {
    sessionClass == "user" && !isRemote && !seat.isEmpty && state != "closing"
  }

  package var conditions: ScanConditions.Session {
    ScanConditions.Session(
      isActive: Fact(isActive && state != "closing"), isLocal: Fact(!isRemote), isGraphical: Fact(isGraphical),
      isUserSession: Fact(sessionClass == "user"), isLocked: lock.isLocked, hasBeenUnlocked: lock.hasBeenUnlocked,
      hasBeenSaidUnlocked: lock.hasBeenSaidUnlocked)
  }

  /// Nil if a required property is missing or has another type.
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

  /// From a PropertiesChanged signal.
  mutating func merge(_ properties: [String: Value]) {
    if let value = properties["Type"]?.asString { type = value }
    if let value = properties["Class"]?.asString { sessionClass = value }
    if let value = properties["Active"]?.asBool { isActive = value }
    if let value = properties["State"]?.asString { state = value }
    if let value = properties["LockedHint"]?.asBool { lock.handle(.hintChanged(value)) }
  }

  /// With those of a new reading. Keeps the remembered lock.
  mutating func replace(with properties: [String: Value]) {
    guard let new = LoginSession(properties: properties), new.id == id, new.uid == uid else { return }
    var lock = lock
    if let hint = properties["LockedHint"]?.asBool { lock.handle(.hintRead(hint)) }
    self = new
    self.lock = lock
  }
}
