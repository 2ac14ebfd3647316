import Notifications

/// Titles in the inbox for tags without a link or a text.
extension Messages {
  static var emptyMessage: String {
    // Translators: in a list of tags that were read: the tag is made for messages and holds none.
    translated("Empty message")
  }
  /// Also the title of a notification that shows the UID of such a tag.
  static var bareTag: String {
    // Translators: in a list of tags that were read, and title above a tag's number: there is no message on the tag. For example a bank card.
    translated("Tag without a message")
  }
  static var link: String {
    // Translators: in a list of tags that were read: there is a link in it of a kind that is left alone here. Nobody has forbidden it.
    translated("Link that is not opened")
  }
  static var contactCard: String {
    // Translators: in a list of tags that were read: the tag holds a vCard, a person's name and address.
    translated("Contact card")
  }
  static var calendarEntry: String { translated("Calendar entry") }
  static var wirelessSettings: String {
    // Translators: in a list of tags that were read: the tag holds the name of a wireless network, and its password.
    translated("Wi-Fi settings")
  }
  static var bluetoothPairing: String {
    // Translators: in a list of tags that were read: the tag says how to connect to a Bluetooth device.
    translated("Bluetooth pairing")
  }
  static func data(of type: DisplayText) -> String {
    // Translators: in a list of tags that were read. {type} is for example image/png or example.com:coupon
    translated("Data of type {type}", ["type": type.string])
  }
  /// The text below the type of data that no app opens.
  static func save(_ data: TagData, of tap: String) -> String {
    translated(
      // Translators: below the kind of data on a tag, for example “Data of type application/zip”. {size} is for example 12 kB, {command} is for a terminal.
      "{size}. No app opens it. To save it: {command}",
      ["size": data.size, "command": "tagroute inbox export --record \(data.record) \(tap.prefix(8)) FILE"])
  }
  static var unknownData: String { translated("Data of an unknown kind") }
}
