/// Selects the handler of a link from the applications that claim it. The candidates and the question depend only on
/// the claims and the user's choices.
struct HandlerSelection {
  /// The applications that may open the link: the handler first, then in the order in which they are offered.
  private(set) var candidates: [Candidate] = []
  /// At most as many as are ever shown.
  private(set) var losers: [Candidate] = []
  /// Of further applications that lost.
  private(set) var leftOut = 0

  /// Losers to list, blocked ones counted separately. A thousand applications may claim one link.
  static let maximumLosers = 32

  /// The claims that cover the link have their applications in the order in which they are offered. Both lists of
  /// claims begin with the most exact one. `covering` has every claim that could cover the link, and is only evaluated
  /// if the user has made choices. An application is vouched for if the domain of the claim itself names it for this
  /// link.
  init(
    _ claims: [(claim: String, applications: [Application])], covering: @autoclosure () -> [String],
    choices: HandlerChoices, isVouchedFor: (Application, _ claim: String) -> Bool
  ) {
    let covering = choices.isEmpty ? [] : covering()
    // Usually there is one application and no choice, and no set is needed to recognise applications.
    let isSole = claims.count == 1 && claims[0].applications.count == 1
    var seen: Set<String> = []
    var contenders: [(application: Application, claim: String)] = []
    var blocked: [Candidate] = []
    for (claim, applications) in claims {
      for application in applications where isSole || seen.insert(application.desktopID).inserted {
        if choices.isBlocked(application.desktopID, from: covering) {
          blocked.append(Candidate(application, claim: claim, outcome: .blocked, trust: .unconfirmed))
        } else {
          contenders.append((application, claim))
        }
      }
    }
    let preferredID = Self.preferred(among: contenders.lazy.map(\.application.desktopID), choices, covering)
    let claim = contenders.first?.claim
    let isAlone = contenders.count { $0.claim == claim } == 1
    func trust(in application: Application, for own: String) -> Candidate.Trust {
      application.origin == .system
        ? .system
        // A program that can write a user entry can give it any id, including an id that the domain names.
        : application.origin == .store && isVouchedFor(application, own)
          ? .vouchedFor : choices.isAllowed(application, for: covering) ? .confirmed : .unconfirmed
    }
    var trusted: Candidate?
    for (application, own) in contenders {
      let outcome: Candidate.Outcome =
        application.desktopID == preferredID
        ? .preferred
        : preferredID != nil
          ? .anotherIsPreferred : own != claim ? .lessExact : isAlone ? .only : .offered
      let wins = outcome == .preferred || outcome == .only || outcome == .offered
      guard wins || losers.count < Self.maximumLosers || trusted == nil else {
        leftOut += 1
        continue
      }
      let candidate = Candidate(application, claim: own, outcome: outcome, trust: trust(in: application, for: own))
      if wins {
        candidates.append(candidate)
        continue
      }
      if trusted == nil, candidate.trust != .unconfirmed { trusted = candidate }
      if losers.count < Self.maximumLosers { losers.append(candidate) } else { leftOut += 1 }
    }
    if let trusted { offer(trusted) }
    losers += blocked.prefix(Self.maximumLosers)
    leftOut += max(0, blocked.count - Self.maximumLosers)
  }

  private static func preferred(
    among contenders: some Sequence<String>, _ choices: HandlerChoices, _ covering: [String]
  ) -> String? {
    let preferences = choices.preferences(among: covering)
    guard !preferences.isEmpty else { return nil }
    let ids = Set(contenders)
    return preferences.first(where: ids.contains)
  }

  /// Offers the best trusted loser beside the winners if no winner is trusted. A more exact claim to one host must not
  /// be enough to hide a trusted application. If the user prefers a winner, no other application is offered.
  private mutating func offer(_ trusted: Candidate) {
    guard candidates.allSatisfy({ $0.trust == .unconfirmed && $0.outcome != .preferred }) else { return }
    if let index = losers.firstIndex(where: { $0.application == trusted.application }) {
      losers.remove(at: index)
    } else {
      leftOut -= 1
    }
    candidates = ([trusted] + candidates).map {
      Candidate($0.application, claim: $0.claim, outcome: .offered, trust: $0.trust)
    }
  }

  /// Before the first candidate is opened.
  var question: Route.Question {
    guard let first = candidates.first else { return .nothing }
    if candidates.count > 1 { return .which }
    return first.trust == .unconfirmed ? .whetherAllowed : .nothing
  }
}
