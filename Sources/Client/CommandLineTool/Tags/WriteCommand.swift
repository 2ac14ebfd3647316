import Bus
import Names
import TagrouteClient

extension Command {
  static let write = Command(
    name: "write", summary: "wait for a tag, write a message on it and read it back",
    details: """
      Replaces the message on the tag. Give at least one record. Several records are
      written in the order of the options.

      A link is written as a tap will offer it: https:// is put in front of a host,
      and characters that no link may hold are percent-encoded. The output says so.
      A link that no tap would offer is refused.

      --format cannot be undone on an Ultralight or NTAG. A tag that holds data is
      left as it is.

      \(TagCommand.severalHelp)
      With --count, it writes them one after the other.

      \(TagCommand.exitHelp)
      """,
    options: RecordOption.options + [
      .init("language", "LANGUAGE", "set the language of texts and titles; the default is en"),
      .init("title", "TITLE", "set the title of the Smart Poster"),
      .init("password-file", "FILE", "read the password of the Wi-Fi network; - is standard input"),
      .init("no-password", "the Wi-Fi network is open"),
      .init("format", "format a blank tag first"),
      .init("count", "NUMBER", "write this many tags, one after the other, 1 to 10000"),
    ] + TagCommand.options
  ) { arguments, console throws(Failure) in
    let count = try arguments.number("count", in: 1...10_000)
    let (message, respelled) = try await MessageToWrite.build(arguments)
    let options = ReaderSessionOptions(
      message: SheetMessages.write, access: .write, formatsBlankTags: arguments.has("format"))
    return try await TagCommand(options, arguments, console, count: count) { tag, output throws(Failure) in
      try await tag.attempt { tag throws(BusError) in try await tag.writeNDEF(message) }
      let uid = Hexadecimal.text(tag.uid)
      try await output.answer(
        ["technology": tag.technology, "uid": uid, "written": message.count, "links": respelled] as JSON,
        ["\(tag.technology) \(uid): \(message.count) bytes written and read back"]
          + respelled.map { "the link is written as \($0)" }, onOneLine: count != nil)
    }.run()
  }
}

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
