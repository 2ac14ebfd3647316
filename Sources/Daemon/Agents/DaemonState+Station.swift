import Session

/// A station: a machine whose taps go to one user's agent while no other user is at the seat.
extension DaemonState {
  /// The place of the station's agent in the registry; nil if this machine is not a station. It needs no session.
  var station: SessionKey? {
    guard !policy.servesAnySession, let uid = policy.station else { return nil }
    return SessionKey(id: nil, uid: uid)
  }

  /// The station, if it gets the taps of a seat now; nil if another user does, or if this is not known.
  ///
  /// A login screen is not a user, and a session of the station's own user is the station too. While logind is not on
  /// the bus, another user may sit at the machine, so the station gets no tap.
  func stationInFront(of seat: String) -> SessionKey? {
    guard let station, seat == Self.defaultSeat, login.isAvailable else { return nil }
    guard let active = login.activeSession(on: seat) else { return station }
    return active.sessionClass == "greeter" || active.uid == station.uid ? station : nil
  }
}
