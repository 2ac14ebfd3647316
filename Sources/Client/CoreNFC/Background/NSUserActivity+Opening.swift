import Foundation
import NDEF
import TagrouteClient

extension NSUserActivity {
  /// The type of an activity that starts the program and opens nothing.
  static let activationType = "org.freedesktop.Application.Activate"

  /// The activity for an opening by the agent or the desktop.
  convenience init(_ opening: TagOpening) {
    self.init(
      activityType: opening.uri != nil || opening.isByTag
        ? NSUserActivityTypeBrowsingWeb : NSUserActivity.activationType)
    webpageURL = opening.uri.flatMap { URL(string: $0) }
    ndefMessagePayload = NFCNDEFMessage(opening.message)
    activationToken = opening.activationToken
    tapIdentifier = opening.tapID
    tagIdentifier = opening.uid.isEmpty ? nil : Data(opening.uid)
    tagTechnology = opening.technology.isEmpty ? nil : opening.technology
    readerIdentifier = opening.reader.isEmpty ? nil : opening.reader
    tagDate = opening.time.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
  }
}

extension TagOpening {
  /// Whether a tag has opened the program. A message on standard input has no tap id.
  var isByTag: Bool { tapID != nil || message != .empty }
}
