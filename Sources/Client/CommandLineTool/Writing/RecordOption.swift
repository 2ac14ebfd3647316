/// An option of `write` that stands for a record.
enum RecordOption: String, CaseIterable {
  case uri
  case text
  case smartPoster = "smart-poster"
  case wifi
  case vcard
  case geo
  case mime
  case external
  case externalText = "external-text"
  case ndef

  static var options: [Command.Option] { allCases.map { .init($0.rawValue, $0.argument, $0.help) } }

  private var argument: String {
    switch self {
    case .uri, .smartPoster: "URI"
    case .text: "TEXT"
    case .wifi: "SSID"
    case .vcard, .ndef: "FILE"
    case .geo: "LAT,LON"
    case .mime, .external: "TYPE FILE"
    case .externalText: "TYPE TEXT"
    }
  }

  private var help: String {
    switch self {
    case .uri: "write a link"
    case .text: "write a text"
    case .smartPoster: "write a link with a title"
    case .wifi: "write a Wi-Fi network; asks for its password"
    case .vcard: "write a contact card; - is standard input"
    case .geo: "write a place, in degrees: 48.2010,16.3695"
    case .mime: "write a file with its media type, such as image/png"
    case .external: "write a file with a type such as example.com:ticket"
    case .externalText: "write a text with such a type"
    case .ndef: "write the bytes of a message; - is standard input"
    }
  }
}
