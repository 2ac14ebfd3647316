import Handlers
import Inbox
import Journal
import Routing
import Settings

/// The rules of the user and the administrator.
extension AgentService {
  /// How old a tap may be that is opened without a click, in microseconds. The daemon and the agent take milliseconds.
  private static let freshness: Int64 = 3_000_000

  /// Opens a new tap without a click, if a rule says so and the session is not locked. Returns false if the tap has to be
  /// shown.
  ///
  /// With `WhenLocked=hold`, the daemon sends a tap that was read behind a lock after the session is unlocked. A tap that
  /// has waited, for this or any other reason, is therefore shown.
  func openAtOnce(_ offer: TapOffer, readAt time: Timestamp) async -> Bool {
    guard offer.mayOpenAtOnce else { return false }
    guard (0...Self.freshness).contains(now().microseconds - time.microseconds) else {
      log(.info, "tap \(offer.id) is not opened without a click: it was not read just now")
      return false
    }
    guard await !isLocked() else {
      log(.info, "tap \(offer.id) is not opened without a click: the session is locked")
      return false
    }
    await perform([.announceReceived(offer.id)])
    return await open(offer.opening(.withoutClick), token: nil) == nil
  }

  /// Logs the mistakes in rules that are new, and decides taps on the screen again.
  func followRules() async {
    var known: [KeyFileError] = []
    for await _ in await rules.changes() {
      let problems = await rules.problems
      logNew(problems, since: known, all: "tagroute rules --check")
      known = problems
      let count = await rules.rules.rules.count
      log(.info, "rules for taps in force: \(count)")
      for id in policy.onScreenInOrder { await decideAgain(id) }
    }
  }
}

extension TapOffer {
  /// The app or program that gets the tap, for the log; nil if there is none.
  var receiver: String? {
    handler?.desktopID ?? command.map { "the program of the rule “\($0.rule)”" } ?? (connects ? "NetworkManager" : nil)
  }
}

extension TapRule.Action {
  /// Whether the action also concerns tags without a link and without a text.
  var isAboutAnyContents: Bool {
    switch self {
    case .run, .show: true
    case .open, .openDefault, .ignore: false
    }
  }
}
