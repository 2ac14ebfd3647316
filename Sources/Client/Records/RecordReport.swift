package import NDEF
package import Names
import Routing
import UniversalLinks

/// A record in words for a person, and as JSON for scripts, which depend on its keys.
package struct RecordReport: Encodable, Equatable, Sendable {
  /// What a record is for a person.
  package enum Kind: String, Encodable, Sendable {
    case link
    case place
    case text
    case smartPoster = "smart-poster"
    case wifi
    case contact
    /// Names an app of Android.
    case androidApp = "android-app"
    /// Of a media type.
    case file
    /// Of an external type.
    case data
    case empty
    case unknown
  }

  /// Without its password.
  package struct Network: Encodable, Equatable, Sendable {
    package let ssid: String
    /// `open`, `WPA`, `WPA2`, `WPA/WPA2`, `WEP`, `enterprise` or `unknown`.
    package let security: String
    package let hasPassword: Bool
  }

  package struct Contact: Encodable, Equatable, Sendable {
    package let name: String
    package let organisation: String
    package let phones: [String]
    package let emails: [String]
  }

  package struct Location: Encodable, Equatable, Sendable {
    package let latitude: Double
    package let longitude: Double
    package let label: String
    /// For a person, with the numbers as they are on the tag.
    fileprivate let line: String

    private enum CodingKeys: CodingKey { case latitude, longitude, label }
  }

  package private(set) var kind = Kind.unknown
  /// `empty`, `well-known`, `media`, `uri`, `external` or `unknown` (NDEF 1.0, section 3.2.6).
  package let format: String
  /// As text; bytes that are not UTF-8 are replaced.
  package let type: String
  @OrNull package private(set) var id: String?
  /// Hexadecimal.
  package let payload: String
  /// Of a URI record or a Smart Poster.
  @OrNull package private(set) var uri: String? = nil
  /// Of a text record, and the title of a Smart Poster.
  @OrNull package private(set) var text: String? = nil
  @OrNull package private(set) var language: String? = nil
  @OrNull package private(set) var networks: [Network]? = nil
  @OrNull package private(set) var contact: Contact? = nil
  @OrNull package private(set) var place: Location? = nil
  @OrNull package private(set) var androidApp: String? = nil

  package init(_ record: NDEFRecord) {
    format =
      switch record.typeNameFormat {
      case .empty: "empty"
      case .wellKnown: "well-known"
      case .mediaType: "media"
      case .absoluteURI: "uri"
      case .external: "external"
      case .unknown, .unchanged: "unknown"
      }
    type = String(decoding: record.type, as: UTF8.self)
    id = record.id.isEmpty ? nil : String(decoding: record.id, as: UTF8.self)
    payload = Hexadecimal.text(record.payload)
    if let view = try? URIRecord(record) {
      uri = view.uri
      place = (try? URI(view.uri)).flatMap(Place.init).map(Location.init)
      kind = place == nil ? .link : .place
    } else if let view = try? TextRecord(record) {
      (text, language) = (view.text, view.language)
      kind = .text
    } else if let view = try? SmartPosterRecord(record) {
      uri = view.uri
      (text, language) = (view.titles.first?.text, view.titles.first?.language)
      kind = .smartPoster
    } else if let view = try? WiFiRecord(record) {
      networks = view.networks.map(Network.init)
      kind = .wifi
    } else if let card = ContactCard(record) {
      contact = Contact(
        name: card.name, organisation: card.organisation, phones: card.phones, emails: card.emails)
      kind = .contact
    } else if record.externalType == RecordType.androidApplication {
      androidApp = String(decoding: record.payload, as: UTF8.self)
      kind = .androidApp
    } else {
      kind =
        switch record.typeNameFormat {
        case .empty: .empty
        case .mediaType: .file
        case .external: .data
        case .wellKnown, .absoluteURI, .unknown, .unchanged: .unknown
        }
    }
  }

  /// The records of a message; empty if the bytes are not a message.
  package static func all(in message: [UInt8]) -> [RecordReport] {
    ((try? NDEFMessage(decoding: message))?.records ?? []).map(RecordReport.init)
  }
}

extension RecordReport.Network {
  init(_ network: WiFiNetwork) {
    let offer = WiFiOffer(network)
    ssid = network.name ?? offer.name
    hasPassword = !network.key.isEmpty
    security =
      switch offer.obstacle {
      case .enterprise: "enterprise"
      case .wep: "WEP"
      case .unknownAuthentication, .unknownEncryption: "unknown"
      case .password, nil:
        if offer.isOpen {
          "open"
        } else {
          [(WiFiNetwork.Authentication.wpa, "WPA"), (.wpa2, "WPA2")]
            .filter { network.authentication.contains($0.0) }.map(\.1).joined(separator: "/")
        }
      }
  }

  fileprivate var line: String {
    "\(ssid), \(security), " + (hasPassword ? "password: on the tag, not shown" : "no password")
  }
}

extension RecordReport.Location {
  init(_ place: Place) {
    // The texts are decimal numbers.
    (latitude, longitude, label) = (Double(place.latitude) ?? 0, Double(place.longitude) ?? 0, place.label)
    let parts = ["latitude \(place.latitude)", "longitude \(place.longitude)", label]
    line = parts.filter { !$0.isEmpty }.joined(separator: ", ")
  }
}

extension RecordReport.Contact {
  fileprivate var line: String {
    let parts = [[name, organisation], phones.map { "phone \($0)" }, emails.map { "mail \($0)" }]
    let line = parts.joined().filter { !$0.isEmpty }.joined(separator: ", ")
    return line.isEmpty ? "without a name" : line
  }
}

extension RecordReport {
  /// A line for a person, with only the beginning of a long text. JSON has the whole text.
  package var line: String {
    switch kind {
    case .link: "link: \(Self.beginning(uri))"
    case .place: "place: \(Self.beginning(place?.line))"
    case .text: "text (\(language ?? "")): \(Self.beginning(text))"
    case .smartPoster: "smart poster: \(Self.beginning(uri))" + (text.map { " (\(Self.beginning($0)))" } ?? "")
    case .wifi: "Wi-Fi network: \((networks ?? []).map(\.line).joined(separator: "; "))"
    case .contact: "contact: \(Self.beginning(contact?.line))"
    case .androidApp: "app for Android: \(Self.beginning(androidApp))"
    case .file: "file: \(typeAndSize)" + (id.map { ", named \(Self.beginning($0))" } ?? "")
    case .data: "data: \(typeAndSize)"
    case .empty: "an empty record"
    case .unknown: "\(format) \(typeAndSize)"
    }
  }

  private var typeAndSize: String {
    let count = payload.count / 2
    let size = count == 0 ? nil : count == 1 ? "1 byte" : "\(count) bytes"
    return [type.isEmpty ? nil : Self.beginning(type), size].compactMap(\.self).joined(separator: ", ")
  }

  /// A line for each record. Beyond a limit, records are only counted.
  package static func lines(_ records: [RecordReport]) -> [String] {
    let rest = records.count - listedAtMost
    return records.prefix(listedAtMost).map(\.line) + (rest > 0 ? ["and \(rest) more records"] : [])
  }

  private static let listedAtMost = 100

  /// The limit is in scalars, because a single character can have any number of them.
  private static func beginning(_ text: String?) -> String {
    guard let text else { return "" }
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: shownAtMost, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return text }
    return "\(String(scalars[..<end]))… (\(text.utf8.count) bytes)"
  }

  /// In scalars.
  private static let shownAtMost = 1000
}
