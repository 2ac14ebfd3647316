import Presence

/// A station: a machine whose taps go to one user's agent while no other user is logged in at the seat.
extension DaemonState {
  /// The place of the station's agent in the registry; nil if this machine is not a station. It needs no session.
  var station: SessionKey? {
    guard !policy.servesAnySession, let uid = policy.station else { return nil }
    return SessionKey(id: nil, uid: uid)
  }

  /// The station, if it gets the taps of a seat now; nil if another user is logged in there, or if this is not known.
  ///
  /// The foreground alone does not decide: while logind switches from one user to another, no session is in it.
  func stationInFront(of seat: String) -> SessionKey? {
    guard let station, seat == Self.defaultSeat, login.isFree(seat, for: station.uid) else { return nil }
    return station
  }

  /// Whether a station is locked. Its user may have a session with a screen, too.
  func lock(ofStation station: SessionKey, on seat: String) -> Fact {
    login.activeSession(on: seat)?.lock.isLocked == .yes ? .yes : lock(of: station) ?? .no
  }
}
