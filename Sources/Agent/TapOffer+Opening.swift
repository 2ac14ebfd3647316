import Routing
import UniversalLinks

/// By whom a tap is opened: another than the first, the same once more, or the one that was shown where that still holds.
extension TapOffer {
  /// The same tap, opened by another of its candidates, or by the one that gets the link alone, without a question; nil where
  /// there is none with that desktop id.
  func handed(to desktopID: String) -> TapOffer? {
    guard let candidate = candidates.first(where: { $0.desktopID == desktopID }) else { return alone(in: desktopID) }
    return handed(to: candidate, whole: handsOverMessage)
  }

  /// The same tap, opened by the default application, which gets the link alone and so needs no permission, whatever it claims
  /// besides; nil where it is not the one with that desktop id.
  func alone(in desktopID: String) -> TapOffer? {
    guard let application = handsOverMessage ? alternative : handler ?? alternative,
      application.desktopID == desktopID
    else { return nil }
    return handed(to: application, whole: false)
  }

  /// The same tap, opened by the one in which it has failed; nil where that is no longer there, or the user has to be asked first.
  func again(in desktopID: String) -> TapOffer? {
    guard let other = handed(to: desktopID), other.handsOverMessage, needsPermission(desktopID) else {
      return handed(to: desktopID)
    }
    return alone(in: desktopID)
  }

  /// What the user wants opened, by what was shown, where it may still be. Between the showing and the click an app may have been
  /// blocked or forgotten, the word of a domain may have run out, or another entry stand in the place of the one that was shown.
  ///
  /// - Parameters:
  ///   - now: the same tap as it is decided now.
  ///   - isAnswer: whether the user has given the permission just now, which counts for the entry that the question was about.
  ///   - hasFailed: whether it is tried again. It is with the app as it is installed now then: what an update has mended would
  ///     fail for good otherwise, since it is no longer what was offered.
  /// - Returns: what to open; nil where the user has to be shown first what is right now.
  func confirmed(by now: TapOffer, isAnswer: Bool, hasFailed: Bool) -> TapOffer? {
    // To copy what is on the tag is not for anybody to permit.
    guard let handler, isOpenable else { return self }
    let id = handler.desktopID
    let isRetry = hasFailed && !isAnswer
    guard handsOverMessage else { return now.alone(in: id).map { isRetry ? $0 : self } }
    guard now.handsOverMessage, let candidate = now.candidates.first(where: { $0.desktopID == id }) else { return nil }
    if now.needsPermission(id) {
      // Who was shown as needing none was not given one.
      guard isAnswer, needsPermission(id), candidate.isSameEntry(as: handler) else { return nil }
    }
    return isRetry ? now.handed(to: candidate, whole: true) : self
  }
}

extension TapOffer {
  /// Who gets what of a tap: two hand-overs with the same key would be one thing given to one app twice.
  struct HandOverKey: Sendable, Hashable {
    /// The tap's id.
    let tap: String
    /// The app by what would be started; how it is named and shown in the meantime makes no other of it.
    fileprivate let application: [String]
    fileprivate let uri: URI?
    fileprivate let handsOverMessage: Bool
  }

  /// Who gets what of this tap.
  var handOverKey: HandOverKey {
    HandOverKey(
      tap: id, application: handler.map { [$0.desktopID, $0.file, $0.launch] } ?? [], uri: uri,
      handsOverMessage: handsOverMessage)
  }
}

extension Application {
  /// Whether it is the entry that a permission for the other would be about.
  fileprivate func isSameEntry(as other: Application) -> Bool { file == other.file && launch == other.launch }
}
