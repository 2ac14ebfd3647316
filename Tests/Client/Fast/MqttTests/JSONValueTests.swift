import Foundation
import Rig
import Testing

@testable import TagrouteClient

@testable import Mqtt

@Suite struct JSONValueTests {
  private func text(_ value: JSONValue) -> String { String(decoding: value.bytes, as: UTF8.self) }

  @Test func `values are written on one line, with their keys in order`() {
    let value = JSONValue.record([
      "b": .integer(-1), "a": .array([.boolean(true), .boolean(false), .string("é/")]), "none": nil,
      "o": .object([]),
    ])
    #expect(text(value) == #"{"b":-1,"a":[true,false,"é/"],"o":{}}"#)
    #expect(text(.integer(.max)) == "9223372036854775807")
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
      let decoded = try JSONDecoder().decode([String].self, from: Data(JSONValue.array([.string(string)]).bytes))
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
    let published = ReaderState(reader, of: daemon)
    #expect(published.name == "1")
    #expect(
      String(decoding: published.payload, as: UTF8.self)
        == #"{"state":"\#(state)","reasons":\#(reasons),"name":"ACR122U"}"#)
  }
}
