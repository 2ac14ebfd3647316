/// Who of those that claim a link opens it. Pure: claims and the user's choices in, candidates and a question out.
struct HandlerSelection {
  /// Everybody who may open it, the handler first, then in the order in which they are offered.
  private(set) var candidates: [Candidate] = []
  /// Those who lost; no more than are ever shown.
  private(set) var losers: [Candidate] = []
  /// How many more have lost.
  private(set) var leftOut = 0

  /// A handler named for a thousand others would otherwise be a list of a thousand.
  static let maximumLosers = 32

  /// - Parameters:
  ///   - claims: who has made each claim that covers the link, the most exact claim first, applications in the order in which
  ///     they are offered.
  ///   - covering: every claim that could cover the link, the most exact first; only asked for where the user has chosen anything.
  ///   - choices: what the user has chosen.
  ///   - isVouchedFor: whether the domain of a claim itself names the application that has made it for this link.
  init(
    _ claims: [(claim: String, applications: [Application])], covering: @autoclosure () -> [String],
    choices: HandlerChoices, isVouchedFor: (Application, _ claim: String) -> Bool
  ) {
    let covering = choices.isEmpty ? [] : covering()
    // Mostly there is one application, and nothing is chosen: then it is not worth a set to tell applications apart.
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
        // Whoever can write an entry of the user's can give it any id, the one that a domain names included.
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

  /// Whom of these the user prefers.
  private static func preferred(
    among contenders: some Sequence<String>, _ choices: HandlerChoices, _ covering: [String]
  ) -> String? {
    let preferences = choices.preferences(among: covering)
    guard !preferences.isEmpty else { return nil }
    let ids = Set(contenders)
    return preferences.first(where: ids.contains)
  }

  /// Offers the best of those who lost beside winners of whom nobody vouches for any: to claim one host more exactly must not
  /// be enough to hide who is trusted with it. Beside the one that the user prefers nobody is offered.
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

  /// What the user is to be asked before the first candidate is opened.
  var question: Route.Question {
    guard let first = candidates.first else { return .nothing }
    if candidates.count > 1 { return .which }
    return first.trust == .unconfirmed ? .whetherAllowed : .nothing
  }
}
