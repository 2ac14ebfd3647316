import Handlers
import Inbox
import Journal
import Routing

/// What is offered for a tap.
extension AgentService {
  func makeOffer(_ reading: TagReading) async -> TapOffer {
    let policy = await currentRouting()
    return TapOffer(reading, registry: await handlers.registry, policy: policy, languages: languages)
  }

  /// What decides of links now, the user's choices included.
  func currentRouting() async -> RoutingPolicy {
    let (choices, problems) = await choices.current()
    for problem in problems { log(.warning, "\(problem)") }
    var policy = routing
    policy.choices = choices
    return policy
  }

  /// What is right now; of a tap that has failed in the app in which it has.
  func offer(_ stored: StoredTap) async -> TapOffer {
    let offer = await makeOffer(TagReading(stored.tap))
    // To try again is to try with the same one, which the user may have chosen.
    guard stored.state == .failed, let handler = stored.tap.handler else { return offer }
    return offer.again(in: handler) ?? offer
  }

  /// What was clicked, or called for, where what has been shown still holds: one decision for every way in, by the user's choices,
  /// the handlers and the words of domains as they are now.
  ///
  /// - Parameters:
  ///   - offer: what is to be opened, of what was shown.
  ///   - isAnswer: whether it is the answer to a question.
  /// - Returns: nil where the user has to be shown first what is right now.
  /// - Throws: `InboxError` where the tap is gone.
  func confirmed(_ offer: TapOffer, isAnswer: Bool) async throws(InboxError) -> TapOffer? {
    let now = await makeOffer(TagReading(try await inbox.tap(offer.id).tap))
    return offer.confirmed(by: now, isAnswer: isAnswer, hasFailed: policy.hasFailed(offer.id))
  }

  /// What a call opens: as the notification that is up says it, where it says who opens the tap, else what is right now.
  ///
  /// - Parameters:
  ///   - id: the tap.
  ///   - desktopID: by whom; nil for who would get it by a click. The caller knows whom it names, and needs no notification for it.
  /// - Returns: nil where there is no such candidate, or who was shown does not get it any longer.
  /// - Throws: `InboxError` where the tap is gone.
  func called(_ id: String, in desktopID: String?) async throws(InboxError) -> TapOffer? {
    let stored = try await inbox.tap(id)
    if let desktopID { return await makeOffer(TagReading(stored.tap)).handed(to: desktopID) }
    if let shown = policy.offer(id), shown.isOpenable, shown.question == .nothing {
      return try await confirmed(shown, isAnswer: false)
    }
    return await offer(stored)
  }
}
