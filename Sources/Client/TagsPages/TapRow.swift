import Names
import Notifications
package import TagrouteClient
import UniversalLinks

/// A line of the list of taps. Compact, because a list may hold thousands. All texts are safe to show.
package struct TapRow: Sendable, Hashable {
  package let id: String
  /// Greater for newer taps.
  package let sequence: UInt64
  /// What is on the tag.
  package let title: String
  /// Where the link leads; empty without a link, and if the title is the same.
  package let place: String
  /// The app's id or the rule's name; empty if there is neither.
  package let opener: String
  package let state: String
  /// When the tag was read, in microseconds since 1970-01-01 00:00 UTC.
  package let time: UInt64

  package init(_ tap: TapDescription) {
    id = tap.id
    sequence = tap.sequence ?? 0
    title = DisplayText(tap.title).string
    let place = (try? URI(tap.uri))?.display() ?? ""
    self.place = place == title ? "" : place
    opener = DisplayText(tap.handler.map(AppID.text) ?? tap.rule ?? "", limit: 60).string
    state = tap.state
    time = tap.time
  }

  /// Whether an app or a program may still get it.
  package var canOpen: Bool { !["delivered", "opening"].contains(state) }
  /// Whether it is on the screen.
  package var canDismiss: Bool { ["received", "shown"].contains(state) }
}
