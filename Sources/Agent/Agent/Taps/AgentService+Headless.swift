import Inbox
import Routing

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
