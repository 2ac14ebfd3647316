import Foundation
import NDEF
import Rig
import Testing

@testable import CoreNFC

@Suite struct MessageTests {
  private func record(_ payload: [UInt8], chunkSize: Int = 0, identifier: String = "") -> NFCNDEFPayload {
    NFCNDEFPayload(
      format: .media, type: Data("a/b".utf8), identifier: Data(identifier.utf8), payload: Data(payload),
      chunkSize: chunkSize)
  }

  @Test func `the length is the number of bytes that are written`() throws {
    let message = NFCNDEFMessage(records: [
      record([1, 2, 3], identifier: "i"), record([UInt8](repeating: 7, count: 300)),
    ])
    let bytes = try #require(message.encoded)
    #expect(message.length == bytes.count)
    #expect(bytes.count == (3 + 1 + 3 + 1 + 3) + (6 + 3 + 300))
    message.records.removeLast()
    #expect(message.length == 3 + 1 + 3 + 1 + 3)
  }

  @Test func `a message without records is the empty message`() {
    let message = NFCNDEFMessage(records: [])
    #expect(message.encoded == [0xD0, 0, 0])
    #expect(message.length == 3)
    #expect(message.records.isEmpty)
  }

  @Test func `a record that breaks the rules of its format cannot be written`() {
    let long = Data(count: 256)
    let records = [
      NFCNDEFPayload(format: .empty, type: Data([1]), identifier: Data(), payload: Data()),
      NFCNDEFPayload(format: .unknown, type: Data([1]), identifier: Data(), payload: Data()),
      NFCNDEFPayload(format: .media, type: Data(), identifier: Data(), payload: Data()),
      NFCNDEFPayload(format: .unchanged, type: Data(), identifier: Data(), payload: Data([1])),
      NFCNDEFPayload(format: .media, type: long, identifier: Data(), payload: Data()),
      NFCNDEFPayload(format: .media, type: Data([1]), identifier: long, payload: Data()),
    ]
    for record in records {
      let message = NFCNDEFMessage(records: [self.record([1], chunkSize: 1), record])
      #expect(message.encoded == nil)
      #expect(message.length == 0)
      #expect(NFCNDEFMessage(records: [record]).encoded == nil)
    }
  }

  // MARK: Decoding

  @Test func `one whole message of at most 128 KiB is decoded`() throws {
    let most = 128 << 10
    let bytes = try #require(NFCNDEFMessage(records: [record([UInt8](repeating: 0xAB, count: most - 9))]).encoded)
    #expect(bytes.count == most)
    #expect(NFCNDEFMessage(data: Data(bytes))?.length == most)
    let longer = try #require(NFCNDEFMessage(records: [record([UInt8](repeating: 0xAB, count: most - 8))]).encoded)
    #expect(NFCNDEFMessage(data: Data(longer)) == nil)
  }

  @Test func `anything else than one whole message is refused`() {
    let uri = hexadecimalBytes("D1 01 08 55 01 6E66632E636F6D")
    let message = NFCNDEFMessage(data: Data(uri))
    #expect(message?.records.first?.wellKnownTypeURIPayload() == URL(string: "http://www.nfc.com"))
    #expect(NFCNDEFMessage(data: Data()) == nil)
    #expect(NFCNDEFMessage(data: Data(uri + [0])) == nil)
    #expect(NFCNDEFMessage(data: Data(uri + uri)) == nil)
    #expect(NFCNDEFMessage(data: Data(uri.dropLast())) == nil)
    #expect(NFCNDEFMessage(data: Data([0, 0] + uri).dropFirst(2))?.length == uri.count)
  }

  // MARK: Chunks

  @Test func `records with and without chunks are written in their order`() throws {
    let records = [
      record([1, 2, 3], chunkSize: 2), record([4, 5, 6]), record([7, 8, 9], chunkSize: 1), record([0xA], chunkSize: 5),
    ]
    let message = NFCNDEFMessage(records: records)
    let bytes = try #require(message.encoded)
    let expected = hexadecimalBytes(
      """
      B2 03 02 612F62 0102
      16 00 01 03
      12 03 03 612F62 040506
      32 03 01 612F62 07
      36 00 01 08
      16 00 01 09
      52 03 01 612F62 0A
      """)
    #expect(bytes == expected)
    #expect(message.length == bytes.count)
    let decoded = try #require(NFCNDEFMessage(data: Data(bytes)))
    #expect(decoded.records.map(\.record) == records.map(\.record))
  }

  @Test func `a chunk size of zero or less, or of the whole payload, makes no chunks`() {
    let whole = NFCNDEFMessage(records: [record([1, 2, 3])]).encoded
    for size in [-1, 0, 3, 4, Int.max] {
      #expect(NFCNDEFMessage(records: [record([1, 2, 3], chunkSize: size)]).encoded == whole)
    }
  }

  // MARK: Objects

  @Test func `a message is archived and restored`() throws {
    let records = [record([1, 2, 3], chunkSize: 2, identifier: "i"), record([])]
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: NFCNDEFMessage(records: records), requiringSecureCoding: true)
    let restored = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NFCNDEFMessage.self, from: archive))
    #expect(restored.records.map(\.record) == records.map(\.record))
    #expect(restored.records.map(\.chunkSize) == [2, 0])
    #expect(restored.encoded == NFCNDEFMessage(records: records).encoded)
    let empty = try NSKeyedArchiver.archivedData(
      withRootObject: NFCNDEFMessage(records: []), requiringSecureCoding: true)
    #expect(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NFCNDEFMessage.self, from: empty)?.records.isEmpty == true)
  }

  @Test func `a record is archived and restored`() throws {
    let record = try #require(NFCNDEFPayload.wellKnownTypeURIPayload(string: "https://example.com"))
    let archive = try NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
    let restored = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NFCNDEFPayload.self, from: archive))
    #expect(restored.record == record.record)
    #expect(NFCNDEFPayload.supportsSecureCoding)
    #expect(NFCNDEFMessage.supportsSecureCoding)
  }

  @Test func `messages are equal only if they are the same object`() {
    let (a, b) = (NFCNDEFMessage(records: []), NFCNDEFMessage(records: []))
    #expect(a == a)
    #expect(a != b)
    #expect(NFCNDEFMessage(records: [record([1])]).description.hasPrefix("[TNF=2, "))
  }
}

@Suite struct PayloadTests {
  private func payload(_ type: String, _ bytes: [UInt8]) -> NFCNDEFPayload {
    NFCNDEFPayload(format: .nfcWellKnown, type: Data(type.utf8), identifier: Data(), payload: Data(bytes))
  }

  // MARK: URI

  @Test(arguments: [
    ("https://www.example.com/menu", "02", "example.com/menu"), ("https://example.com", "04", "example.com"),
    ("tel:+491234", "05", "+491234"), ("mailto:a@example.com", "06", "a@example.com"),
    ("www.example.com", "00", "www.example.com"), ("x-app://open", "00", "x-app://open"),
    ("https://exämple.com/ö", "04", "exämple.com/ö"),
  ])
  func `a URI is abbreviated, and read as a whole`(uri: String, code: String, rest: String) throws {
    let record = try #require(NFCNDEFPayload.wellKnownTypeURIPayload(string: uri))
    #expect(record.typeNameFormat == .nfcWellKnown)
    #expect(record.type == Data("U".utf8))
    #expect(record.identifier.isEmpty)
    #expect(Array(record.payload) == hexadecimalBytes(code) + Array(rest.utf8))
    #expect(record.wellKnownTypeURIPayload() == URL(string: uri))
  }

  @Test func `a URL is stored as its absolute text`() throws {
    let url = try #require(URL(string: "menu/7?x=1", relativeTo: URL(string: "https://example.com/")))
    let record = try #require(NFCNDEFPayload.wellKnownTypeURIPayload(url: url))
    #expect(record.wellKnownTypeURIPayload()?.absoluteString == "https://example.com/menu/7?x=1")
  }

  @Test func `an empty URI makes no record, and a record without a valid URI has none`() {
    #expect(NFCNDEFPayload.wellKnownTypeURIPayload(string: "") == nil)
    #expect(payload("U", []).wellKnownTypeURIPayload() == nil)
    #expect(payload("U", [0x04, 0xFF]).wellKnownTypeURIPayload() == nil)
    #expect(payload("U", [0x00]).wellKnownTypeURIPayload() == nil)
    #expect(payload("T", hexadecimalBytes("02656E 61")).wellKnownTypeURIPayload() == nil)
    #expect(payload("u", Array("\u{4}example.com".utf8)).wellKnownTypeURIPayload() == nil)
    let media = NFCNDEFPayload(
      format: .media, type: Data("U".utf8), identifier: Data(), payload: Data("\u{4}example.com".utf8))
    #expect(media.wellKnownTypeURIPayload() == nil)
  }

  // MARK: Text

  @Test(arguments: [
    ("en", "02 656E"), ("en_US", "05 656E2D5553"), ("ja_JP", "05 6A612D4A50"),
    ("zh-Hans-CN", "0A 7A682D48616E732D434E"),
  ])
  func `a text is stored as UTF-8 with its language, and read again`(locale: String, start: String) throws {
    let locale = Locale(identifier: locale)
    let record = try #require(NFCNDEFPayload.wellKnownTypeTextPayload(string: "Grüße 食", locale: locale))
    #expect(record.type == Data("T".utf8))
    #expect(Array(record.payload) == hexadecimalBytes(start) + Array("Grüße 食".utf8))
    let (text, language) = record.wellKnownTypeTextPayload()
    #expect(text == "Grüße 食")
    #expect(language?.language.languageCode == locale.language.languageCode)
    #expect(language?.region == locale.region)
  }

  @Test(arguments: [
    ("en", "en"), ("EN", "en"), ("en_US", "en-US"), ("en-US", "en-US"), ("en_US_POSIX", "en-US"), ("en_001", "en-001"),
    ("de_DE@currency=EUR", "de-DE"), ("de_DE.UTF-8", "de-DE"), ("zh_Hant", "zh-Hant"), ("zh_Hans_CN", "zh-Hans-CN"),
    ("ca_ES_VALENCIA", "ca-ES"), ("gsw", "gsw"),
  ])
  func `the language of a locale is language, script and region`(identifier: String, language: String) {
    #expect(LanguageTag.of(localeIdentifier: identifier) == language)
  }

  @Test(arguments: ["", "_US", "C", "@currency=EUR", "日本語", "e1"])
  func `a locale without a language has no language code`(identifier: String) {
    #expect(LanguageTag.of(localeIdentifier: identifier) == nil)
  }

  @Test(arguments: [
    // RTD-Text 1.0: UTF-8; UTF-16 with each mark, and without.
    ("02656E 48C3A9", "Hé", "en"), ("85656E2D5553 FEFF 0048 00E9", "Hé", "en-US"),
    ("82656E FFFE 4800 E900", "Hé", "en"), ("82656E 0048 00E9", "Hé", "en"), ("02656E", "", "en"),
  ])
  func `a text is read in each encoding`(hex: String, text: String, language: String) {
    let (read, locale) = payload("T", hexadecimalBytes(hex)).wellKnownTypeTextPayload()
    #expect(read == text)
    #expect(locale == Locale(identifier: language))
  }

  @Test(arguments: [
    ("T", ""), ("T", "02"), ("T", "02656E FF"), ("T", "82656E 00"), ("T", "05656E"), ("U", "02656E 61"),
  ])
  func `a broken text, or a record of another type, has neither text nor language`(type: String, hex: String) {
    let (text, locale) = payload(type, hexadecimalBytes(hex)).wellKnownTypeTextPayload()
    #expect(text == nil)
    #expect(locale == nil)
  }

  // MARK: Objects

  private final class OwnPayload: NFCNDEFPayload {}

  @Test func `a subclass makes records of its own class`() {
    let record: OwnPayload? = OwnPayload.wellKnownTypeURIPayload(string: "https://example.com")
    #expect(record?.payload.first == 0x04)
    #expect(OwnPayload.wellKnownTypeTextPayload(string: "a", locale: Locale(identifier: "en")) != nil)
  }

  @Test func `records are equal only if they are the same object`() {
    let (a, b) = (payload("U", [4]), payload("U", [4]))
    #expect(a == a)
    #expect(a != b)
    #expect(Set([a, b, a]).count == 2)
  }

  @Test func `a record describes itself as on iOS`() {
    let record = NFCNDEFPayload(
      format: .nfcWellKnown, type: Data("T".utf8), identifier: Data([1]), payload: Data([2, 0x65, 0xFF]))
    #expect(record.description == "TNF=1, Payload Type=<54>, Payload ID=<01>, Payload=<0265ff>")
  }
}

/// Compares `NFCNDEFMessage` with the `NDEF` module on the messages of the comparison with ndeflib.
@Suite struct MessageAgreementTests {
  private struct Vector: Decodable {
    let name: String
    let bytes: String
  }

  private static func vectors() throws -> [(name: String, bytes: [UInt8])] {
    let file = URL(filePath: repositoryRoot).appending(path: "Tests/Tag/Fast/NDEFTests/Differential/ndeflib.jsonl")
    return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map {
      let vector = try JSONDecoder().decode(Vector.self, from: $0)
      return (vector.name, hexadecimalBytes(vector.bytes))
    }
  }

  @Test func `both decode the same bytes to the same records`() throws {
    var counts = (accepted: 0, refused: 0)
    for (name, bytes) in try Self.vectors() {
      let theirs = try? NDEFMessage(decoding: bytes)
      let ours = NFCNDEFMessage(data: Data(bytes))
      #expect(ours.map { $0.records.map(\.record) } == theirs?.records, "\(name)")
      if theirs == nil { counts.refused += 1 } else { counts.accepted += 1 }
    }
    #expect(counts.accepted > 300)
    #expect(counts.refused > 300)
  }

  @Test func `both encode the same records to the same bytes`() throws {
    for (name, bytes) in try Self.vectors() {
      guard let theirs = try? NDEFMessage(decoding: bytes) else { continue }
      let encoded = try theirs.encoded()
      let ours = NFCNDEFMessage(theirs)
      #expect(ours.encoded == encoded, "\(name)")
      #expect(ours.length == encoded.count, "\(name)")
      #expect(NFCNDEFMessage(data: Data(bytes))?.encoded == encoded, "\(name)")
    }
  }

  @Test(arguments: [1, 3, 200])
  func `what one writes in chunks, both read as a whole`(chunkSize: Int) throws {
    for (name, bytes) in try Self.vectors() {
      guard let message = try? NDEFMessage(decoding: bytes) else { continue }
      let chunked = NFCNDEFMessage(
        records: NFCNDEFMessage(message).records.map {
          NFCNDEFPayload(
            format: $0.typeNameFormat, type: $0.type, identifier: $0.identifier, payload: $0.payload,
            chunkSize: chunkSize)
        })
      let encoded = try #require(chunked.encoded)
      let theirs = try message.encoded(NDEFEncodingOptions(chunkSize: chunkSize))
      #expect(encoded == theirs, "\(name)")
      #expect(try NDEFMessage(decoding: encoded) == message, "\(name)")
      #expect(chunked.length == encoded.count, "\(name)")
    }
  }
}

/// Ignores spaces and line breaks.
func hexadecimalBytes(_ digits: String) -> [UInt8] {
  let values = digits.compactMap(\.hexDigitValue)
  precondition(values.count.isMultiple(of: 2), "odd number of digits: \(digits)")
  return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
}
