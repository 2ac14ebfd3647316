import Foundation
import NDEF
import Names
import Rig
import Settings
import Testing

@testable import Mqtt
@testable import TagrouteClient

@Suite struct TapPayloadTests {
  private func text(_ tap: TapDescription, _ settings: MessageSettings = Sample.messages()) -> String {
    String(decoding: TapPayload.make(tap, settings), as: UTF8.self)
  }

  private let plain =
    #"{"tap_id":"tap-7","sequence":7,"time":"2026-11-27T08:15:30.125Z","station":"kiosk-7","reader":"3","#
    + #""technology":"type-2","tag_id":"04-A2-19-5A""#

  private func sample(uri: String = "", message: [UInt8] = []) -> TapDescription {
    Sample.tap(7, time: 1_795_767_330_125_999, uri: uri, message: message)
  }

  @Test func `without contents nothing of the message leaves the machine`() throws {
    let message = try NDEFMessage.uri("https://example.com/secret").encoded()
    #expect(text(sample(uri: "https://example.com/secret", message: message)) == plain + "}")
  }

  @Test func `a hash tells messages apart`() {
    let settings = Sample.messages(contents: .hash)
    // sha256sum of "abc", FIPS 180-4.
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    #expect(
      text(sample(message: Array("abc".utf8)), settings)
        == plain + #","damaged":true,"contents_hash":"\#(hash)"}"#)
    #expect(text(sample(), settings) == plain + "}")
  }

  @Test func `all contents are the link, the title, the message and the types`() throws {
    let message = try NDEFMessage.uri("https://example.com/menu").encoded()
    var tap = sample(uri: "https://example.com/menu", message: message)
    tap.title = "Menu \"1\""
    let base64 = Data(message).base64EncodedString()
    #expect(
      text(tap, Sample.messages(contents: .yes)) == plain
        + #","uri":"https://example.com/menu","title":"Menu \"1\"","message":"\#(base64)","types":["U"]}"#)
    #expect(
      text(sample(message: [0xFF]), Sample.messages(contents: .yes))
        == plain + #","damaged":true,"message":"/w==","types":[]}"#)
  }

  @Test func `a damaged tag is named as such`() {
    var tap = sample(message: [])
    (tap.stateReasonCode, tap.stateReason) = ("damaged", "it is cut off")
    #expect(text(tap) == plain + #","damaged":true}"#)
    // A rule has acted on the tag, so the tap has no reason.
    tap = sample(message: [0xFF])
    tap.state = "delivered"
    #expect(text(tap) == plain + #","damaged":true}"#)
  }

  @Test func `the id of Home Assistant's link is used only with its discovery`() {
    let tap = sample(uri: "https://www.home-assistant.io/tag/3f0a-7b")
    #expect(text(tap) == plain + "}")
    #expect(text(tap, Sample.messages(discovery: true)).contains(#""tag_id":"3f0a-7b""#))
    #expect(text(tap, Sample.messages(discovery: true, tagIDs: .uid)) == plain + "}")
    let key = [UInt8](repeating: 1, count: 32)
    #expect(text(tap, Sample.messages(key: key, discovery: true)).contains(#""tag_id":"3f0a-7b""#))
  }

  @Test(
    arguments: [
      ("https://www.home-assistant.io/tag/abc", "abc"), ("homeassistant://tag/A-b_c.d~1", "A-b_c.d~1"),
      ("https://www.home-assistant.io/tag/abc/", "abc"), ("https://www.home-assistant.io/tag/abc?x=1#y", "abc"),
      ("https://www.home-assistant.io/tag/", nil), ("https://www.home-assistant.io/tag/a/b", nil),
      ("https://www.home-assistant.io/tag/a%2Fb", nil), ("https://home-assistant.io/tag/abc", nil),
      ("https://www.home-assistant.io/tag/Wohnzimmer%20Lampe", "Wohnzimmer Lampe"),
      ("https://www.home-assistant.io/tag/k%C3%BCche", "küche"), ("homeassistant://tag/kitchen+light", "kitchen+light"),
      ("https://www.home-assistant.io/tag/04:A2:19:5A", "04:A2:19:5A"),
      ("https://www.home-assistant.io/tag/100%25", "100%"), ("https://www.home-assistant.io/tag/%FF", nil),
      ("https://www.home-assistant.io/tag/a%0Ab", nil), ("https://www.home-assistant.io/tag/a%E2%80%AEb", nil),
      ("https://www.home-assistant.io/tag/a%E2%80%A8b", nil), ("https://www.home-assistant.io/tag/a%E2%80%A9b", nil),
      ("https://www.home-assistant.io/tag/a%+Ab", nil), ("https://www.home-assistant.io/tag/a%4", nil),
      ("http://www.home-assistant.io/tag/abc", nil), ("https://www.home-assistant.io.example/tag/abc", nil),
      ("https://www.home-assistant.io/tag/" + String(repeating: "a", count: 129), nil),
    ] as [(String, String?)])
  func `an id is read only from a link that Home Assistant's apps write`(uri: String, id: String?) {
    #expect(HomeAssistantTagID.inLink(uri) == id)
  }

  @Test func `a random UID and a missing one have no id`() {
    #expect(HomeAssistantTagID.ofUID([0x08, 1, 2, 3], key: nil) == "")
    #expect(HomeAssistantTagID.ofUID([], key: [UInt8](repeating: 1, count: 32)) == "")
    #expect(HomeAssistantTagID.ofUID([0x08, 1, 2, 3, 4, 5, 6], key: nil) == "08-01-02-03-04-05-06")
  }

  @Test func `with a key the id is the beginning of an HMAC`() {
    // RFC 4231, test case 1.
    let key = [UInt8](repeating: 0x0B, count: 20)
    #expect(Digests.hmac(Array("Hi There".utf8), key: key).hasPrefix("b0344c61d8db38535ca8afceaf0bf12b"))
    #expect(HomeAssistantTagID.ofUID(Array("Hi There".utf8), key: key) == "b0344c61d8db38535ca8afceaf0bf12b")
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_827_696_789_000, "2000-02-29T12:34:56.789Z"),
      (UInt64.max, "9999-12-31T23:59:59.999Z"),
    ] as [(UInt64, String)])
  func `a time is text of RFC 3339`(microseconds: UInt64, text: String) {
    #expect(UTCTime.text(microseconds) == text)
  }

  @Test(arguments: [
    ("/org/tagroute/Tagroute1/readers/12", "12"), ("", ""), ("/a/+", ""), ("/a/b#", ""), ("/", ""),
  ])
  func `a reader is named by the end of its path, if that fits in a topic`(path: String, name: String) {
    #expect(PublishedReader.name(ofPath: path) == name)
  }
}

@Suite struct JSONTreeTests {
  private func text(_ value: JSONTree) -> String { String(decoding: value.bytes, as: UTF8.self) }

  @Test func `values are written on one line, with their keys in order`() {
    let value = JSONTree.record([
      "b": .integer(-1), "a": .array([.boolean(true), .boolean(false), .string("é/")]), "none": nil,
      "o": .object([]),
    ])
    #expect(text(value) == #"{"b":-1,"a":[true,false,"é/"],"o":{}}"#)
    #expect(text(.integer(Int128(UInt64.max))) == "18446744073709551615")
  }

  @Test func `quotes, backslashes and control characters are escaped`() {
    #expect(text(.string("\"\\\n\r\t\u{0}\u{1B}\u{7F}\u{2028}")) == #""\"\\\n\r\t\u0000\u001b\u007f"# + "\u{2028}\"")
  }

  @Test func `Foundation reads every string as it was`() throws {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<500 {
      let scalars = (0..<20).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0...(Bool.random(using: &random) ? 0x90 : 0x10FFFF), using: &random))
      }
      var string = ""
      string.unicodeScalars.append(contentsOf: scalars)
      let decoded = try JSONDecoder().decode([String].self, from: Data(JSONTree.array([.string(string)]).bytes))
      #expect(decoded.first?.unicodeScalars.elementsEqual(scalars) == true)
    }
  }

  @Test func `the descriptions for Home Assistant are what its schema asks for`() throws {
    let publications = Discovery.publications(Sample.messages())
    let tag = try #require(publications.first)
    #expect(tag.topic == "homeassistant/tag/tagroute_kiosk-7/tag/config")
    let words = String(decoding: tag.payload, as: UTF8.self)
    #expect(
      words.hasPrefix(
        #"{"topic":"tagroute/kiosk-7/tap","value_template":"{{ value_json.tag_id }}","device":{"identifiers":["#
          + #""tagroute_kiosk-7"],"name":"Tagroute kiosk-7","manufacturer":"Tagroute""#))
    let sensor = try #require(publications.last)
    let sensorWords = String(decoding: sensor.payload, as: UTF8.self)
    for part in [
      #""device_class":"connectivity""#, #""state_topic":"tagroute/kiosk-7/state""#, #""payload_on":"online""#,
      #""payload_off":"offline""#, #""unique_id":"tagroute_kiosk-7_state""#, #""identifiers":["tagroute_kiosk-7"]"#,
    ] {
      #expect(sensorWords.contains(part))
    }
    #expect(publications.allSatisfy { $0.isRetained })
  }

  @Test(arguments: [
    ("absent", "plug it in", #"["plug it in"]"#), ("failed", "", "[]"), ("ready", "", #"["session-locked","camera"]"#),
    ("scanning", "", "[]"),
  ])
  func `a reader has its own reason, or the daemon's`(state: String, reason: String, reasons: String) {
    let reader = ReaderStatus(
      path: "/org/tagroute/Tagroute1/readers/1", name: "ACR122U", device: "pn532", seat: "seat0", state: state,
      stateReason: reason)
    let daemon = DaemonStatus(
      version: "", enabled: true, scanning: false, suspendReasons: ["session-locked", "camera"], readers: [reader])
    let published = PublishedReader(reader, of: daemon)
    #expect(published.name == "1")
    #expect(
      String(decoding: published.payload, as: UTF8.self)
        == #"{"state":"\#(state)","reasons":\#(reasons),"name":"ACR122U"}"#)
  }
}
