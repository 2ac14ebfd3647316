import Handlers
import NDEF
import Names
import Notifications
import Routing

/// The inbox's title for a tag without a link that may be opened, and without a text. It shows the user that the tag
/// was read.
enum TagContents {
  /// Names the first record with a meaning for people. A title taken from the tag is shortened and sanitized.
  /// The obstacle keeps its link from being opened.
  static func title(of read: TagRead, _ obstacle: TapOffer.Obstacle?) -> DisplayText {
    switch obstacle {
    case .damaged: return DisplayText(Messages.damagedTag)
    case .refused: return DisplayText(Messages.refusedLink)
    case nil: break
    }
    guard !read.bytes.isEmpty else { return DisplayText(Messages.bareTag) }
    guard let message = read.message else { return DisplayText(Messages.unknownData) }
    let records = message.records.filter { !saysNothing($0) }
    guard !records.isEmpty else { return DisplayText(Messages.emptyMessage) }
    return records.lazy.compactMap(title).first ?? DisplayText(Messages.unknownData)
  }

  static func title(of type: RecordType) -> DisplayText {
    let title =
      switch type {
      case .media(let name): media(name)
      case .external(let name): data(of: name)
      }
    return title ?? DisplayText(Messages.unknownData)
  }

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
    case _ where ContactCard.types.contains(name): return DisplayText(Messages.contactCard)
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

/// Of a type that no app opens. Its notification shows the type and the size, and how to save it.
struct TagData: Sendable, Hashable {
  /// The record's place in the message, from 1.
  let record: Int
  /// Of its payload, in bytes.
  let bytes: Int

  /// Nil if the route has no such record.
  init?(_ route: Route, _ message: NDEFMessage?) {
    guard let record = route.unopenedRecord, let payload = message.flatMap(record.payload) else { return nil }
    (self.record, bytes) = (record.number, payload.count)
  }

  /// In bytes, or rounded to kilobytes, with the symbol of the unit.
  var size: String { bytes < 1000 ? "\(bytes) B" : "\((bytes + 500) / 1000) kB" }
}

/// The user's languages, in the form that tags use.
enum UserLanguages {
  /// Codes of RFC 4646, the best first: `pt-BR` and `pt` for `pt_BR.UTF-8`. `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and
  /// `LANG` apply, with gettext's rules. English if no language is set, as in our own texts.
  static func codes(in environment: [String: String]) -> [String] {
    var seen: Set<String> = []
    let codes = LanguagePreference.languages(in: environment).flatMap(codes).filter { seen.insert($0).inserted }
    return codes.isEmpty ? ["en"] : codes
  }

  /// Codes for a locale's name without its character set, for example `sr_RS@latin`.
  private static func codes(of locale: String) -> [String] {
    let parts = locale.split(separator: "@", maxSplits: 1)
    guard let name = parts.first else { return [] }
    let code = name.split(separator: "_").joined(separator: "-")
    guard let language = name.split(separator: "_").first else { return [] }
    if parts.count > 1 { return scripts[String(parts[1])].map { ["\(language)-\($0)"] } ?? [] }
    // Chinese is written in two scripts. The country implies the script, and a tag may be marked with either.
    return [code] + (scriptOfCountry[code].map { [$0] } ?? [])
  }

  private static let scripts = ["latin": "Latn", "cyrillic": "Cyrl"]
  private static let scriptOfCountry = [
    "zh-CN": "zh-Hans", "zh-SG": "zh-Hans", "zh-TW": "zh-Hant", "zh-HK": "zh-Hant", "zh-MO": "zh-Hant",
  ]
}

/// A tag's identity: its UID, or its contents if the UID changes at each activation.
enum TagIdentity: Sendable, Hashable {
  case uid([UInt8])
  case message([UInt8])
}

extension TagRead {
  var tag: TagIdentity {
    // The contents of bare tags are all the same.
    if isBare { return uid.isEmpty ? .message(Array(id.utf8)) : .uid(uid) }
    return uid.isEmpty || UIDText.isRandom(uid) ? .message(bytes) : .uid(uid)
  }
}
