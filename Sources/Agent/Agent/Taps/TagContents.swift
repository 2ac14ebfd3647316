import NDEF
import Notifications
import Routing

/// The inbox's title for a tag without a link that may be opened, and without a text. It shows the user that the tag
/// was read.
enum TagContents {
  /// Names the first record with a meaning for people. A title taken from the tag is shortened and sanitized.
  /// The obstacle keeps its link from being opened.
  static func title(of bytes: [UInt8], _ obstacle: TapOffer.Obstacle?) -> DisplayText {
    switch obstacle {
    case .damaged: return DisplayText(Messages.damagedTag)
    case .refused: return DisplayText(Messages.refusedLink)
    case nil: break
    }
    guard !bytes.isEmpty else { return DisplayText(Messages.bareTag) }
    guard let message = try? NDEFMessage(decoding: bytes) else { return DisplayText(Messages.unknownData) }
    let records = message.records.filter { !saysNothing($0) }
    guard !records.isEmpty else { return DisplayText(Messages.emptyMessage) }
    return records.lazy.compactMap(title).first ?? DisplayText(Messages.unknownData)
  }

  /// Names a record that an app opens.
  static func title(of type: RecordType) -> DisplayText {
    let title =
      switch type {
      case .media(let name): media(name)
      case .external(let name): data(of: name)
      }
    return title ?? DisplayText(Messages.unknownData)
  }

  /// Whether a record is empty, or a text without a visible character.
  private static func saysNothing(_ record: NDEFRecord) -> Bool {
    if record.typeNameFormat == .empty { return true }
    return (try? TextRecord(record)).map { DisplayText($0.text).isEmpty } ?? false
  }

  /// Nil if the record has no meaning for people.
  private static func title(of record: NDEFRecord) -> DisplayText? {
    let type = String(decoding: record.type, as: UTF8.self)
    switch record.typeNameFormat {
    // The link is not opened: Smart Posters may be off, or the link is unreadable or has no scheme.
    case .wellKnown where record.isWellKnown(SmartPosterRecord.type), .absoluteURI: return DisplayText(Messages.link)
    case .mediaType: return media(type)
    case .external: return data(of: type)
    // The type is a letter or two. In the NFC Forum's Connection Handover (`Hs`), the records behind it name the
    // carrier.
    case .wellKnown, .empty, .unknown, .unchanged: return nil
    }
  }

  /// For a type of IANA's registry, with its parameters. It is not case-sensitive (RFC 2045, section 5.1).
  private static func media(_ type: String) -> DisplayText? {
    let name = type.prefix { $0 != ";" }.lowercased()
    switch name {
    case "text/vcard", "text/x-vcard", "text/directory": return DisplayText(Messages.contactCard)
    case "text/calendar", "text/x-vcalendar": return DisplayText(Messages.calendarEntry)
    // Wi-Fi Simple Configuration 2.0.5, section 10.1.1.
    case "application/vnd.wfa.wsc": return DisplayText(Messages.wirelessSettings)
    // Bluetooth Secure Simple Pairing Using NFC 1.2, section 2.1.
    case "application/vnd.bluetooth.ep.oob", "application/vnd.bluetooth.le.oob":
      return DisplayText(Messages.bluetoothPairing)
    default: return data(of: type)
    }
  }

  private static func data(of type: String) -> DisplayText? {
    let shown = DisplayText(type, limit: 60)
    return shown.isEmpty ? nil : DisplayText(Messages.data(of: shown))
  }
}
