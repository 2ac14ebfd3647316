extension HandlerChoices {
  /// A change of the user's choices, by a click or a command.
  package enum Change: Sendable, Hashable {
    /// From now on, this handler opens the links that this claim covers, and needs no confirmation for them.
    case prefer(Application, claim: String)
    /// This handler is not offered for the links that this claim covers, or for any link if the claim is nil. Its
    /// preferences and permissions for them are removed.
    case block(desktopID: String, claim: String?)
    /// Removes all choices about this handler, this claim, or the two together. Removes all choices if both are nil.
    case forget(desktopID: String?, claim: String?)
  }

  /// Makes a change. Returns false, and leaves the choices unchanged, if there would be too many claims.
  package mutating func apply(_ change: Change) -> Bool {
    var next = self
    switch change {
    case .prefer(let application, let claim): next.prefer(application, claim)
    case .block(let id, let claim): next.block(id, claim)
    case .forget(let id, let claim): next.forget(id, claim)
    }
    let isLarger = next.count > count
    guard !isLarger || next.count <= HandlerChoices.maximumClaims else { return false }
    self = next
    return true
  }

  /// The number of all claims.
  package var count: Int {
    preferred.count + allowed.values.reduce(0) { $0 + $1.claims.count }
      + blocked.values.reduce(0) { $0 + $1.count }
  }

  private mutating func prefer(_ application: Application, _ claim: String) {
    let id = application.desktopID
    preferred[claim] = [id]
    blocked[id]?.remove(claim)
    if blocked[id]?.isEmpty == true { blocked[id] = nil }
    let place = Place(application)
    if allowed[id]?.place == place {
      allowed[id]?.claims.insert(claim)
    } else {
      allowed[id] = Permission(place: place, claims: [claim])
    }
  }

  private mutating func block(_ id: String, _ claim: String?) {
    forget(id, claim)
    guard let claim else {
      blocked[id] = [HandlerChoices.everything]
      return
    }
    if blocked[id]?.contains(HandlerChoices.everything) != true { blocked[id, default: []].insert(claim) }
  }

  private mutating func forget(_ id: String?, _ claim: String?) {
    func isMeant(_ other: String) -> Bool { claim == nil || claim == other }
    for (key, ids) in preferred where isMeant(key) {
      let kept = id.map { id in ids.filter { $0 != id } } ?? []
      preferred[key] = kept.isEmpty ? nil : kept
    }
    for (other, permission) in allowed where id == nil || id == other {
      let kept = permission.claims.filter { !isMeant($0) }
      allowed[other] = kept.isEmpty ? nil : Permission(place: permission.place, claims: kept)
    }
    for (other, claims) in blocked where id == nil || id == other {
      let kept = claims.filter { !isMeant($0) }
      blocked[other] = kept.isEmpty ? nil : kept
    }
  }
}
