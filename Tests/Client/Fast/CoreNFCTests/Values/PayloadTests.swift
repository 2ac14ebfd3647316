import Foundation
import NDEF
import Testing

@testable import CoreNFC

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
