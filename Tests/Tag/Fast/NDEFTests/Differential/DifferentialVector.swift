import FoundationEssentials
import NDEF

/// A line of ndeflib.jsonl: bytes, and the result of ndeflib. generate.py describes the keys.
struct DifferentialVector: Decodable {
  let name: String
  let bytes: Hex
  let error: String?
  let records: [Record]?
  let encoded: Hex?

  struct Record: Decodable {
    let type: String
    let id: Hex?
    let payload: Hex
    let view: View?
    let viewError: String?
    let wifi: Network?
  }

  /// A Wi-Fi network.
  struct Network: Decodable {
    let ssid: Hex
    let authentication: Hex
    let encryption: Hex
    let key: Hex
  }

  /// The fields of a typed view. The type determines which of them are present.
  struct View: Decodable {
    var uri: String?
    var text: String?
    var language: String?
    var encoding: String?
    var titles: [View]?
    var action: UInt8?
    var icons: [[String]]?
    var size: UInt32?
    var mediaType: String?
    var payload: Hex?

    /// All fields except the payload, as bytes, because equal strings can have different bytes.
    var fingerprint: [UInt8] {
      var view = self
      view.payload = nil
      return Array(String(reflecting: view).utf8)
    }
  }

  /// Bytes that JSON holds as hexadecimal digits.
  struct Hex: Decodable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
      bytes = NDEFTests.bytes(try decoder.singleValueContainer().decode(String.self))
    }
  }

  static func load() throws -> [DifferentialVector] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "ndeflib.jsonl")
    let decoder = JSONDecoder()
    return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map {
      try decoder.decode(DifferentialVector.self, from: $0)
    }
  }
}

extension NDEFRecord {
  /// The type as ndeflib writes it.
  var ndeflibType: String {
    let name = String(decoding: type, as: UTF8.self)
    return switch typeNameFormat {
    case .empty: ""
    case .wellKnown: "urn:nfc:wkt:" + name
    case .mediaType, .absoluteURI: name
    case .external: "urn:nfc:ext:" + name
    case .unknown: "unknown"
    case .unchanged: "unchanged"
    }
  }
}

extension DifferentialVector.View {
  init(_ uri: URIRecord) { self.init(uri: uri.uri) }

  init(_ text: TextRecord) {
    self.init(text: text.text, language: text.language, encoding: text.encoding == .utf8 ? "UTF-8" : "UTF-16")
  }

  init(_ poster: SmartPosterRecord) {
    self.init(
      uri: poster.uri,
      titles: poster.titles.isEmpty ? nil : poster.titles.map(Self.init),
      action: poster.action?.rawValue,
      icons: poster.icons.isEmpty ? nil : poster.icons.map { [$0.ndeflibType, hex($0.payload)] },
      size: poster.size,
      mediaType: poster.mediaType)
  }
}
