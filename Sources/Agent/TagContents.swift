import NDEF
import Notifications

/// What is on a tag that holds neither a link that may be opened nor a text, in a few words for the inbox: nothing is done with it, and
/// who has tapped it wants to see that it was read.
enum TagContents {
  /// By the first record that tells a person something: what it says is a stranger's, and is cut and cleaned.
  ///
  /// - Parameters:
  ///   - bytes: the tag's message.
  ///   - isRefused: whether it holds a link that is never opened.
  /// - Returns: a title in the user's language.
  static func title(of bytes: [UInt8], isRefused: Bool) -> DisplayText {
    if isRefused { return DisplayText(Messages.refusedLink) }
    guard let message = try? NDEFMessage(decoding: bytes) else { return DisplayText(Messages.unknownData) }
    let records = message.records.filter { !saysNothing($0) }
    guard !records.isEmpty else { return DisplayText(Messages.emptyMessage) }
    return records.lazy.compactMap(title).first ?? DisplayText(Messages.unknownData)
  }

  /// Whether a record is empty, or a text of which nothing can be seen.
  private static func saysNothing(_ record: NDEFRecord) -> Bool {
    if record.typeNameFormat == .empty { return true }
    return (try? TextRecord(record)).map { DisplayText($0.text).isEmpty } ?? false
  }

  /// - Returns: nil where a person is told nothing by it.
  private static func title(of record: NDEFRecord) -> DisplayText? {
    let type = String(decoding: record.type, as: UTF8.self)
    switch record.typeNameFormat {
    // Smart Posters may be switched off, or hold no link that can be read; absolute URIs never count.
    case .wellKnown where record.isWellKnown(SmartPosterRecord.type), .absoluteURI: return DisplayText(Messages.link)
    case .mediaType: return media(type)
    case .external: return data(of: type)
    // A well-known type is a letter or two. With Hs, the NFC Forum's Connection Handover, what the connection is made by stands in the
    // records behind it.
    case .wellKnown, .empty, .unknown, .unchanged: return nil
    }
  }

  /// By a type of IANA's registry, with its parameters; not case-sensitive (RFC 2045, section 5.1).
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
