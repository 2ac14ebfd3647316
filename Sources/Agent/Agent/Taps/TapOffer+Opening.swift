import Handlers
import Routing
import UniversalLinks

/// Changes of the app that opens a tap.
extension TapOffer {
  /// The same tap, opened without a question by this candidate, or by the app that gets the link alone; nil if there is
  /// no such app.
  func handed(to desktopID: String) -> TapOffer? {
    guard let candidate = candidates.first(where: { $0.desktopID == desktopID }) else { return alone(in: desktopID) }
    return handed(to: candidate, whole: handsOverMessage)
  }

  /// The same tap, opened by the default application, which gets the link alone, and needs no permission for that; nil
  /// if its desktop id is another.
  func alone(in desktopID: String) -> TapOffer? {
    guard let application = handsOverMessage ? alternative : handler ?? alternative,
      application.desktopID == desktopID
    else { return nil }
    return handed(to: application, whole: false)
  }

  /// The same tap, opened by the app in which it failed; nil if that is gone, or needs permission.
  func again(in desktopID: String) -> TapOffer? {
    guard let other = handed(to: desktopID), other.handsOverMessage, needsPermission(desktopID) else {
      return handed(to: desktopID)
    }
    return alone(in: desktopID)
  }

  /// What to open, if the offer that was shown still holds. Until the click, the user may have blocked the app, the
  /// domain's record may have expired, or another desktop entry may have replaced this one. Returns nil if the user has
  /// to see the current offer first.
  ///
  /// `isAnswer`: the user has just given permission, for the desktop entry in the question. `hasFailed`: the user tries
  /// again. The app as it is installed now opens the tap then: an update may have fixed it.
  func confirmed(by now: TapOffer, isAnswer: Bool, hasFailed: Bool) -> TapOffer? {
    // The rule may have changed since.
    if let command { return now.command?.isSame(as: command) == true ? self : nil }
    if connects { return now.connects && now.network == network ? self : nil }
    // Copying needs no permission.
    guard let handler, isOpenable else { return self }
    let id = handler.desktopID
    let isRetry = hasFailed && !isAnswer
    guard handsOverMessage else { return now.alone(in: id).map { isRetry ? $0 : self } }
    guard now.handsOverMessage, let candidate = now.candidates.first(where: { $0.desktopID == id }) else { return nil }
    if now.needsPermission(id) {
      // The user was not asked about this app, or about this entry.
      guard isAnswer, needsPermission(id), candidate.isSameEntry(as: handler) else { return nil }
    }
    return isRetry ? now.handed(to: candidate, whole: true) : self
  }
}

extension TapOffer {
  /// Identifies a hand-over: a second one with the same key would give the same app the same thing twice.
  struct HandOverKey: Sendable, Hashable {
    let tap: String
    /// The app by its desktop entry and command. Another name or icon does not make it another app.
    fileprivate let application: [String]
    fileprivate let uri: URI?
    fileprivate let handsOverMessage: Bool
    fileprivate let network: WiFiOffer?
    fileprivate let savesNetwork: Bool
  }

  var handOverKey: HandOverKey {
    HandOverKey(
      tap: id, application: handler.map { [$0.desktopID, $0.file, $0.launch] } ?? command?.arguments ?? [], uri: uri,
      handsOverMessage: handsOverMessage, network: network, savesNetwork: manner == .savingNetwork)
  }
}

extension Application {
  /// Whether the other app's permission is for this entry.
  fileprivate func isSameEntry(as other: Application) -> Bool { file == other.file && launch == other.launch }
}
