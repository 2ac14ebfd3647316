import Handlers
import Notifications
import Routing

extension Messages {
  /// Also the title in the inbox, which has no limit.
  static func network(_ name: DisplayText, limit: Int = .max) -> String {
    fitted(name, in: limit) { name in
      // Translators: title of a notification, and in a list of tags that were read. {name} is the name of a wireless network.
      translated("Wi-Fi network “{name}”", ["name": name])
    }
  }
  static func mayConnect(to name: DisplayText) -> String {
    fitted(name) { name in
      // Translators: title of a question; the answers are the buttons “Connect” and “Connect and Save”.
      translated("Connect to Wi-Fi “{name}”?", ["name": name])
    }
  }
  static var connect: String {
    // Translators: label of a button: connect to the wireless network now, and keep its password only until a restart.
    translated("Connect")
  }
  static var connectAndSave: String {
    // Translators: label of a button: connect to the wireless network now, and each time that it is near.
    translated("Connect and Save")
  }
  static var networkHasPassword: String {
    // Translators: below “Connect to Wi-Fi …?”
    translated("The password is on the tag")
  }
  static var networkIsOpen: String {
    // Translators: below “Connect to Wi-Fi …?”
    translated("The network has no password: others can read what is sent without encryption")
  }
  static func couldNotConnect(to name: DisplayText) -> String {
    fitted(name) { name in
      translated("Could not connect to Wi-Fi “{name}”", ["name": name])
    }
  }
  static func mayBeConnected(to name: DisplayText) -> String {
    fitted(name) { name in
      // Translators: title: nobody knows whether the connection was made.
      translated("May be connected to Wi-Fi “{name}”", ["name": name])
    }
  }

  /// A sentence without a full stop.
  static func whyUnusable(_ obstacle: WiFiOffer.Obstacle) -> String {
    switch obstacle {
    case .enterprise:
      // Translators: below “Wi-Fi network …”. It: the network.
      translated("It needs a user name, which is not on the tag; connect in the network settings")
    case .wep:
      // Translators: below “Wi-Fi network …”. It: the network. WEP is the name of an old encryption.
      translated("It uses WEP, which is not secure")
    case .unknownAuthentication, .unknownEncryption:
      // Translators: below “Wi-Fi network …”.
      translated("The tag names a kind of security that is unknown here")
    case .password:
      // Translators: below “Wi-Fi network …”.
      translated("The password on the tag cannot be the password of such a network")
    }
  }

  /// A sentence without a full stop; empty if a network can be joined.
  static func whyNoWiFi(_ availability: WiFiAvailability) -> String {
    switch availability {
    case .available: ""
    case .noNetworkManager:
      // Translators: NetworkManager is the name of a program.
      translated("NetworkManager is needed to connect, and it does not run")
    case .noDevice: translated("The computer has no Wi-Fi device that can be used now")
    case .off: translated("Wi-Fi is switched off")
    }
  }

  static var networkUnusable: String { translated("The network that was on the tag cannot be used any more") }
  static var networkPassword: String {
    // Translators: below “Could not connect to Wi-Fi …”
    translated("The network did not accept the password on the tag")
  }
  static func networkNotJoined(_ detail: String) -> String {
    // Translators: below “Could not connect to Wi-Fi …”. {detail} is a reason of NetworkManager, in English.
    translated("NetworkManager could not connect: “{detail}”", ["detail": detail])
  }
  static func networkNotSaved(_ detail: String) -> String {
    // Translators: {detail} is a reason of NetworkManager, in English.
    translated("The computer is connected, but the network was not saved: “{detail}”", ["detail": detail])
  }
}
