import Names
import Presence

/// Who is at each seat: the session or the station, its agent and its lock, and what keeps the readers there from
/// scanning.
///
/// Pure.
struct Seats: Sendable {
  /// The seat of every device that udev assigns to no other seat.
  static let defaultSeat = "seat0"

  var policy: DaemonState.Policy
  var isEnabled: Bool
  var inhibitingUsers: Set<UInt32> = []
  var airplaneMode = Fact.unknown
  var login = LoginState()
  var registry = AgentRegistry()

  // MARK: Seats

  /// The conditions of the session that gets a seat's taps, and its agent.
  func seat(_ seat: String) -> (session: ScanConditions.Session?, agent: Agent?) {
    if policy.servesAnySession {
      guard let agent = registry.agents.last else { return (.assumed, nil) }
      var session = ScanConditions.Session.assumed
      session.isLocked = lock(of: agent.session) ?? .no
      return (session, agent)
    }
    if let station = stationInFront(of: seat) {
      var session = ScanConditions.Session.assumed
      session.isLocked = lock(ofStation: station, on: seat)
      return (session, registry.agent(of: station))
    }
    if let active = login.activeSession(on: seat) {
      let agent = registry.agent(of: LoginSessionKey(id: active.id, uid: active.uid))
      return (conditions(of: active, agent), agent)
    }
    // No session of the seat is active. The session of a background agent gives the verdict the reason `inactive`;
    // without one it is `noSession`.
    guard login.isAvailable else { return (nil, nil) }
    for agent in registry.agents.reversed() {
      guard let id = agent.session.id, let session = login.session(id), session.seat == seat else { continue }
      return (session.conditions, agent)
    }
    return (nil, nil)
  }

  /// The conditions of a seat. The caller adds those of the reader.
  func conditions(_ name: String) -> ScanConditions {
    let (session, agent) = seat(name)
    var conditions = ScanConditions()
    conditions.isEnabled = isEnabled
    conditions.session = session
    conditions.hasAgent = agent != nil
    conditions.isSleeping = policy.servesAnySession ? .no : login.isSleeping
    conditions.isInhibited = isInhibited(on: name)
    conditions.isInAirplaneMode = airplaneMode.or(agent?.report.airplaneMode ?? .unknown)
    conditions.isCameraInUse = agent?.report.camera ?? .unknown
    conditions.isDisplayOff = agent?.report.displayOff ?? .unknown
    return conditions
  }

  /// An inhibitor of root has an effect, and one of the user of the seat's active session: after a switch of users, the
  /// former user's inhibitor must not stop scanning. With `Sessions=any`, every inhibitor has an effect.
  private func isInhibited(on seat: String) -> Bool {
    guard !policy.servesAnySession else { return !inhibitingUsers.isEmpty }
    let front = stationInFront(of: seat)?.uid ?? login.activeSession(on: seat)?.uid
    return inhibitingUsers.contains(0) || front.map(inhibitingUsers.contains) ?? false
  }

  /// Nil if the user may have a reader session on the seat now.
  func obstacle(to uid: UInt32, on seat: String) -> Names.SessionEnd? {
    if policy.servesAnySession {
      let isLocked = registry.agent(of: LoginSessionKey(id: nil, uid: uid))?.report.locked == .yes
      return isLocked ? .sessionInactive : nil
    }
    if login.isSleeping == .yes { return .sleeping }
    if uid == 0, isUnattended(seat) { return nil }
    if let station = stationInFront(of: seat) {
      return station.uid == uid && lock(ofStation: station, on: seat) != .yes ? nil : .sessionInactive
    }
    guard let active = login.activeSession(on: seat), active.uid == uid, active.isEligible,
      !policy.scan.treatsAsLocked(active.lock.isLocked)
    else { return .sessionInactive }
    return nil
  }

  /// Whether no user is logged in at a seat, except the user of the station. Root may use its readers then: there is
  /// nobody whose tags they could be.
  func isUnattended(_ seat: String) -> Bool { login.isFree(seat, for: station?.uid) }

  // MARK: Sessions

  /// Most likely first. With logind they are unknown before its first answer.
  func sessions(of uid: UInt32, _ login: LoginState?) -> [LoginSessionKey] {
    if policy.servesAnySession || uid == policy.station { return [LoginSessionKey(id: nil, uid: uid)] }
    let eligible = login?.eligibleSessions(of: uid) ?? []
    // An agent belongs to a desktop. A text session is used only if the user has no graphical one.
    let graphical = eligible.filter(\.isGraphical)
    return (graphical.isEmpty ? eligible : graphical).map { LoginSessionKey(id: $0.id, uid: $0.uid) }
  }

  func isPresent(_ session: LoginSessionKey) -> Bool {
    guard let id = session.id else { return true }
    return login.session(id)?.uid == session.uid
  }

  /// Nil if the session is unknown.
  func lock(of key: LoginSessionKey) -> Fact? {
    guard let id = key.id else { return registry.agent(of: key)?.report.locked == .yes ? .yes : .no }
    guard let session = login.session(id) else { return nil }
    return conditions(of: session, registry.agent(of: key)).isLocked
  }

  /// An agent's report of a lock has effect at once, before the login monitor returns it.
  private func conditions(of session: LoginSession, _ agent: Agent?) -> ScanConditions.Session {
    var conditions = session.conditions
    if agent?.report.locked == .yes { conditions.isLocked = .yes }
    return conditions
  }

  // MARK: The station

  /// The station's key in the registry; nil if this machine is not a station. The taps of a station go to one user's
  /// agent, which needs no session, while no other user is logged in at the seat.
  var station: LoginSessionKey? {
    guard !policy.servesAnySession, let uid = policy.station else { return nil }
    return LoginSessionKey(id: nil, uid: uid)
  }

  /// Nil if another user is logged in at the seat, or if this is not known.
  ///
  /// The foreground alone does not decide: while logind switches from one user to another, no session is in it.
  func stationInFront(of seat: String) -> LoginSessionKey? {
    guard let station, seat == Self.defaultSeat, login.isFree(seat, for: station.uid) else { return nil }
    return station
  }

  /// The user of a station may have a session with a screen, too.
  private func lock(ofStation station: LoginSessionKey, on seat: String) -> Fact {
    login.activeSession(on: seat)?.lock.isLocked == .yes ? .yes : lock(of: station) ?? .no
  }
}
