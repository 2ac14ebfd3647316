import FoundationEssentials
import NDEF
import Testing

/// Compares this decoder with ndeflib. The results of ndeflib are in a file that `Packaging/check-ndeflib` regenerates.
@Suite struct DifferentialTests {
  @Test func `every disagreement with ndeflib is deliberate`() throws {
    let vectors = try DifferentialVector.load()
    #expect(vectors.count > 1000)
    var seen: Set<String> = []
    for vector in vectors {
      for disagreement in vector.disagreements() {
        let explanations = DeliberateDifference.all.filter { $0.explains(disagreement) }
        #expect(!explanations.isEmpty, "\(vector.name) \(hex(vector.bytes.bytes)): \(disagreement)")
        seen.formUnion(explanations.map(\.name))
      }
    }
    for difference in DeliberateDifference.all {
      #expect(
        seen.contains(difference.name), "no vector shows the difference “\(difference.name)”: \(difference.reason)")
    }
  }

  @Test func `both decoders read the same Wi-Fi networks`() throws {
    var count = 0
    for vector in try DifferentialVector.load() {
      for theirs in vector.records ?? [] {
        guard let network = theirs.wifi else { continue }
        let record = try #require(try NDEFMessage(decoding: vector.bytes.bytes).records.first)
        let ours = try WiFiRecord(record).networks
        #expect(ours.map(\.ssid) == [network.ssid.bytes] && ours.map(\.key) == [network.key.bytes], "\(vector.name)")
        func number(_ bytes: [UInt8]) -> UInt16 { bytes.reduce(0) { $0 << 8 | UInt16($1) } }
        #expect(ours.map(\.authentication.rawValue) == [number(network.authentication.bytes)], "\(vector.name)")
        #expect(ours.map(\.encryption.rawValue) == [number(network.encryption.bytes)], "\(vector.name)")
        count += 1
      }
    }
    #expect(count == 40)
  }

  /// The comparison is useful only if the two agree on many messages.
  @Test func `both decoders accept and reject many of the same messages`() throws {
    let agreed = try DifferentialVector.load().filter { $0.disagreements().isEmpty }
    #expect(agreed.count { $0.records == nil } > 300)
    #expect(agreed.count { $0.records != nil } > 300)
    #expect(agreed.count { $0.records?.contains { $0.view != nil } ?? false } > 100)
    #expect(agreed.count { $0.records?.contains { $0.viewError != nil } ?? false } > 50)
  }
}

/// A difference between this decoder and ndeflib.
enum Disagreement {
  /// ndeflib decodes bytes that we reject.
  case refusedByUs([UInt8], NDEFError, theirs: [DifferentialVector.Record])
  /// We decode bytes that ndeflib rejects.
  case refusedByThem(NDEFMessage, String)
  /// Both decode the message, but to different records.
  case records(NDEFMessage, theirs: [DifferentialVector.Record])
  /// Both decode the message to the same records, but encode these differently.
  case encoding(NDEFMessage, theirs: [UInt8])
  /// ndeflib reads a record as its type, and we reject it.
  case viewRefusedByUs(NDEFRecord, NDEFError)
  /// We read a record as its type, and ndeflib rejects it.
  case viewRefusedByThem(NDEFRecord, String)
  /// Both read a record, but with different fields.
  case view(NDEFRecord, theirs: DifferentialVector.View)
  /// Both read the same fields from a record, but encode them differently.
  case viewEncoding(NDEFRecord, theirs: [UInt8])
}

extension DifferentialVector {
  /// The differences between the two on this vector. Empty if they agree.
  func disagreements() -> [Disagreement] {
    let message: NDEFMessage
    do {
      message = try NDEFMessage(decoding: bytes.bytes)
    } catch {
      return records.map { [.refusedByUs(bytes.bytes, error, theirs: $0)] } ?? []
    }
    guard let records else { return [.refusedByThem(message, error ?? "")] }
    guard message.records.elementsEqual(records, by: { $1.isSame(as: $0) }) else {
      return [.records(message, theirs: records)]
    }
    var disagreements = zip(message.records, records).compactMap { $1.disagreement(on: $0) }
    let theirs = encoded?.bytes ?? bytes.bytes
    if (try? message.encoded()) != theirs { disagreements.append(.encoding(message, theirs: theirs)) }
    return disagreements
  }
}

extension DifferentialVector.Record {
  fileprivate func isSame(as record: NDEFRecord) -> Bool {
    type == record.ndeflibType && (id?.bytes ?? []) == record.id && payload.bytes == record.payload
  }

  /// Compares the typed views of a record on which both agree.
  fileprivate func disagreement(on record: NDEFRecord) -> Disagreement? {
    guard view != nil || viewError != nil else { return nil }
    let ours: (view: DifferentialVector.View, payload: [UInt8])
    do {
      ours = try record.view()
    } catch {
      return view == nil ? nil : .viewRefusedByUs(record, error)
    }
    guard let view else { return .viewRefusedByThem(record, viewError ?? "") }
    if ours.view.fingerprint != view.fingerprint { return .view(record, theirs: view) }
    let theirs = view.payload?.bytes ?? payload.bytes
    return ours.payload == theirs ? nil : .viewEncoding(record, theirs: theirs)
  }
}

extension NDEFRecord {
  /// The typed view of the record, and the payload that the view is encoded to.
  fileprivate func view() throws(NDEFError) -> (DifferentialVector.View, [UInt8]) {
    if isWellKnown(URIRecord.type) {
      let uri = try URIRecord(self)
      return (.init(uri), uri.record().payload)
    }
    if isWellKnown(TextRecord.type) {
      let text = try TextRecord(self)
      return (.init(text), try text.record().payload)
    }
    let poster = try SmartPosterRecord(self)
    return (.init(poster), try poster.record().payload)
  }
}

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
