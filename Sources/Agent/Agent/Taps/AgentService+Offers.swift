import Handlers
import Inbox
import Journal
import NDEF
import Routing

extension AgentService {
  func makeOffer(_ reading: TagReading) async -> TapOffer {
    let policy = await currentRouting()
    let message = try? NDEFMessage(decoding: reading.message)
    let offer = TapOffer(
      reading, registry: await handlers.registry(for: message), policy: policy, languages: languages,
      rules: await rules.rules)
    // Nobody is asked about other tags.
    guard let network = offer.network, network.obstacle == nil else { return offer }
    return offer.connecting(await networkManager?.availability() ?? .noNetworkManager)
  }

  /// The routing policy with the user's current choices.
  func currentRouting() async -> RoutingPolicy {
    let (choices, problems) = await choices.current()
    for problem in problems { log(.warning, "\(problem)") }
    var policy = routing
    policy.choices = choices
    return policy
  }

  /// The current offer for a stored tap. A failed tap is offered in the same app again.
  func offer(_ stored: StoredTap) async -> TapOffer {
    let offer = await makeOffer(TagReading(stored))
    // The user may have chosen that app.
    guard stored.state == .failed, let handler = stored.tap.handler else { return offer }
    return offer.again(in: handler) ?? offer
  }

  /// Checks that an offer still holds after a click or a call, with the current choices, handlers and records. Returns
  /// what to open; nil if the user has to see the current offer first. `isAnswer` means that the user has answered a
  /// question. Throws if the tap is gone.
  func confirmed(_ offer: TapOffer, isAnswer: Bool) async throws(InboxError) -> TapOffer? {
    let now = await makeOffer(TagReading(try await inbox.tap(offer.id)))
    return offer.confirmed(by: now, isAnswer: isAnswer, hasFailed: policy.hasFailed(offer.id))
  }

  /// What a call of `Open` opens. If a notification shows an app, it is that one; else it is the current offer. An app
  /// that the caller names needs no notification. Returns nil if there is no such candidate, or the app that was shown
  /// does not get the link any more. Throws if the tap is gone.
  func called(_ id: String, in desktopID: String?) async throws(InboxError) -> TapOffer? {
    let stored = try await inbox.tap(id)
    if let desktopID { return await makeOffer(TagReading(stored)).handed(to: desktopID) }
    if let shown = policy.offer(id), shown.isOpenable, shown.question == .nothing {
      return try await confirmed(shown, isAnswer: false)
    }
    return await offer(stored)
  }
}

/// Taps on a station without a desktop, where no person can be asked.
extension AgentService {
  /// Ends a tap that was stored, and that no rule opens after all, for example because it was not read just now. Its
  /// state stays if the inbox refuses the change: the opening has begun meanwhile.
  func endHeadless(_ offer: TapOffer) async {
    let (state, reason) = offer.headlessEnding
    await perform([.move(offer.id, to: state, reason: reason), .announceClosed(offer.id, state)])
  }

  /// Ends a tap of an earlier run. Its rule may have begun then, and must not run twice.
  func endLeft(_ stored: StoredTap) async {
    let id = stored.tap.id
    switch stored.state {
    case .failed: await perform([.move(id, to: .expired, reason: stored.reason), .announceClosed(id, .expired)])
    case .received, .shown: await endHeadless(await offer(stored))
    case .opening, .delivered, .dismissed, .expired: break
    }
  }
}

extension TapOffer {
  /// The final state of a tap that would be shown, if no person can be asked. The detail names the rule, or says that none
  /// acts, and nothing of what is on the tag.
  var headlessEnding: (state: TapState, reason: TapReason) {
    let detail =
      switch rule {
      case let rule? where rule.asks: "no user can be asked, and the rule “\(rule.name)” has no Ask=no"
      case let rule?: "no user can be asked, and the rule “\(rule.name)” cannot act without that"
      case nil: "no user can be asked, and no rule acts on the tag"
      }
    return (.dismissed, TapReason(.headless, detail: detail))
  }
}
