import Localization
import Names

/// A text in the user's language. xgettext finds it by the name of this function.
package func translated(_ message: String, _ values: [String: String] = [:]) -> String {
  Translation.text(message, values)
}

/// What a tap's state and a tag's technology are called in the window.
package enum TapWords {
  /// The states in the order of the filter.
  package static let states = ["shown", "delivered", "dismissed", "failed", "expired"]

  package static func state(_ state: String) -> String {
    switch state {
    // Translators: the state of a tag in the list: its notification is on the screen.
    case "received", "shown": translated("Waiting")
    // Translators: the state of a tag in the list: an app is being started for it.
    case "opening": translated("Opening")
    // Translators: the state of a tag in the list: an app has it.
    case "delivered": translated("Opened")
    // Translators: the state of a tag in the list: the user has closed its notification.
    case "dismissed": translated("Dismissed")
    // Translators: the state of a tag in the list: no app could open it.
    case "failed": translated("Failed")
    // Translators: the state of a tag in the list: its notification has left the screen before anyone clicked it.
    case "expired": translated("Not opened")
    default: state
    }
  }

  /// The kinds of tags in the order of the filter.
  package static let technologies = TagType.readable.map(\.rawValue)

  /// The names that the makers of tags print.
  package static func technology(_ technology: String) -> String {
    switch TagType(rawValue: technology) {
    case .type1: "NFC Forum Type 1"
    case .type2: "NFC Forum Type 2"
    case .type3: "NFC Forum Type 3 (FeliCa)"
    case .type4A: "NFC Forum Type 4A"
    case .type4B: "NFC Forum Type 4B"
    case .type5: "NFC Forum Type 5"
    case .mifareClassic: "MIFARE Classic"
    case .peer, nil: technology
    }
  }
}
