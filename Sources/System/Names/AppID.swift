/// The spelling of an app's id for people: `org.example.Menu`. On the bus, in JSON and in the inbox it is the desktop
/// id, with `.desktop`.
package enum AppID {
  private static let suffix = ".desktop"

  /// Of a desktop id.
  package static func text(_ desktopID: String) -> String {
    desktopID.hasSuffix(suffix) ? String(desktopID.dropLast(suffix.count)) : desktopID
  }

  /// The desktop id that a person has typed, with or without `.desktop`.
  package static func desktopID(_ typed: String) -> String { typed.hasSuffix(suffix) ? typed : typed + suffix }
}
