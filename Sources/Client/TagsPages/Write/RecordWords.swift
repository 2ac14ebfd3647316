extension RecordForm.Kind {
  /// For a title and for the menu.
  package var words: String {
    switch self {
    case .link: translated("Link")
    case .text: translated("Text")
    case .wifi: translated("Wi-Fi Network")
    case .contact: translated("Contact")
    case .place: translated("Place")
    case .file: translated("File")
    // Translators: a record of a kind that an organisation has defined for its own app.
    case .data: translated("Data for an App")
    case .message: translated("File With a Message")
    }
  }
}

extension RecordForm.Field {
  /// The label of the field in a record of this kind.
  package func words(_ kind: RecordForm.Kind) -> String {
    switch self {
    case .link: translated("Link")
    case .text: translated("Text")
    // Translators: the language of a text on a tag, as a code.
    case .language: translated("Language")
    // Translators: the name of a Wi-Fi network.
    case .ssid: translated("Name of the network")
    case .passphrase: translated("Password")
    // Translators: the name of a person.
    case .name: translated("Name")
    case .phone: translated("Phone")
    case .mail: translated("Mail")
    case .organisation: translated("Organisation")
    case .coordinates: translated("Latitude, longitude")
    case .type: kind == .data ? translated("Type, such as example.com:ticket") : translated("Media type")
    // Translators: the contents of a record on a tag.
    case .content: translated("Contents")
    case .file: translated("File")
    }
  }
}
