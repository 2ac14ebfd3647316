import Names
import Testing

@Suite struct TraceLineTests {
  private static let lines: [(TraceLine, String)] = [
    (
      TraceLine(.header(program: "tagroute-reader 1.0", library: "libnfc 1.8.0")),
      #"{"trace":1,"program":"tagroute-reader 1.0","library":"libnfc 1.8.0"}"#
    ),
    (
      TraceLine(.device("pn532_uart:/dev/ttyUSB0", name: "PN532", error: nil), at: 0.25),
      #"{"t":0.25,"device":"pn532_uart:/dev/ttyUSB0","name":"PN532"}"#
    ),
    (
      TraceLine(.device("usb", name: nil, error: "it does not answer"), at: 0.5),
      #"{"t":0.5,"device":"usb","error":"it does not answer"}"#
    ),
    (
      TraceLine(.exchange(.init(command: [0x4A, 1, 0], answer: [0], milliseconds: 6.125)), at: 1.5),
      #"{"t":1.5,"to":"4A0100","from":"00","ms":6.125}"#
    ),
    (
      TraceLine(.exchange(.init(command: [0x40, 1], answer: nil, result: -20, milliseconds: 5)), at: 2),
      #"{"t":2.0,"to":"4001","result":-20,"ms":5.0}"#
    ),
    (
      TraceLine(.exchange(.init(call: .connect, command: [], answer: [], milliseconds: 0.5)), at: 3),
      #"{"t":3.0,"call":"connect","ms":0.5}"#
    ),
    (
      TraceLine(
        .exchange(.init(call: .transmit, command: [0xFF, 0xCA], answer: nil, result: 0x8010_0069, milliseconds: 1)),
        at: 3),
      #"{"t":3.0,"call":"transmit","to":"FFCA","result":"80100069","ms":1.0}"#
    ),
    (
      TraceLine(.exchange(.init(call: .control, code: 0x4200_0001, command: [], answer: [1], milliseconds: 1)), at: 3),
      #"{"t":3.0,"call":"control","code":1107296257,"to":"","from":"01","ms":1.0}"#
    ),
    (
      TraceLine(
        .exchange(.init(call: .attribute, code: 0x9_0303, command: [], answer: [0x3B], milliseconds: 1)), at: 3),
      #"{"t":3.0,"call":"attribute","code":590595,"from":"3B","ms":1.0}"#
    ),
    (TraceLine(.slot(0x1_0022, answerToReset: [0x3B, 0]), at: 4), #"{"t":4.0,"slot":65570,"atr":"3B00"}"#),
    (TraceLine(.slot(0x12, answerToReset: []), at: 4), #"{"t":4.0,"slot":18}"#),
    (
      TraceLine(.tap(.init(type: "type-2", uid: [4, 1, 2], message: [0xD0, 0, 0], problem: nil)), at: 5),
      #"{"t":5.0,"tap":"type-2","uid":"040102","message":"D00000"}"#
    ),
    (
      TraceLine(.tap(.init(type: "type-2", uid: [], message: nil, problem: "blank")), at: 5),
      #"{"t":5.0,"tap":"type-2","uid":"","problem":"blank"}"#
    ),
    (TraceLine(.removed, at: 6), #"{"t":6.0,"removed":true}"#), (TraceLine(.lost(7), at: 6), #"{"t":6.0,"lost":7}"#),
    (TraceLine(.source("owner/name#12")), #"{"source":"owner/name#12"}"#),
  ]

  @Test(arguments: lines.indices) func `a line is the same when it is read again`(index: Int) throws {
    let (line, text) = Self.lines[index]
    #expect(String(decoding: line.bytes, as: UTF8.self) == text)
    #expect(try TraceLine.read(Array(text.utf8)) == line)
  }

  @Test func `an exchange of a session is marked`() throws {
    var exchange = TraceLine.Exchange(command: [0x40, 1, 0x30, 4], answer: [0])
    exchange.isOfSession = true
    let line = TraceLine(.exchange(exchange), at: 1)
    #expect(String(decoding: line.bytes, as: UTF8.self) == #"{"t":1.0,"to":"40013004","from":"00","session":true}"#)
    #expect(try TraceLine.read(line.bytes) == line)
  }

  @Test(arguments: [
    #"{}"#, #"{"t":1}"#, #"{"t":1,"later":true}"#, #"{"t":1,"call":"later"}"#, #"{"t":1,"removed":false}"#,
  ])
  func `a line with unknown keys is skipped`(text: String) throws {
    #expect(try TraceLine.read(Array(text.utf8)) == nil)
  }

  @Test func `unknown keys beside known ones are ignored`() throws {
    #expect(
      try TraceLine.read(Array(#"{"t":1,"to":"00","from":"","later":[{}]}"#.utf8))
        == TraceLine(.exchange(.init(command: [0], answer: [])), at: 1))
  }

  @Test(arguments: [
    ("", "ends too early"), ("[]", "not a JSON object"), (#"{"to":1}"#, "\"to\" is not a string"),
    (#"{"to":"0"}"#, "pairs of hexadecimal digits"), (#"{"to":"0:0"}"#, "pairs of hexadecimal digits"),
    (#"{"t":-1,"to":""}"#, "\"t\" is not from 0 to 1e9"), (#"{"t":1e305,"to":""}"#, "\"t\" is not from 0 to 1e9"),
    (#"{"to":"","ms":1e10}"#, "\"ms\" is not from 0 to 1e9"), (#"{"to":"","ms":-1}"#, "\"ms\" is not from 0 to 1e9"),
    (#"{"t":"1","to":""}"#, "\"t\" is not a number"),
    (#"{"trace":2}"#, "version 2.0"), (#"{"slot":-1}"#, "in range"), (#"{"slot":1.5}"#, "whole number"),
    (#"{"call":"connect","result":5}"#, "\"result\" is not a string"),
    (#"{"call":"connect","result":"x"}"#, "hexadecimal number"), (#"{"to":"","result":"5"}"#, "not a number"),
    (#"{"to":"","to":""}"#, "second \"to\""), (#"{"to":"","ms":1e999}"#, "\"ms\" is not a number"),
  ])
  func `a malformed line is refused with its mistake`(text: String, mistake: String) {
    let error = #expect(throws: TraceError.self) { try TraceLine.read(Array(text.utf8)) }
    #expect(error?.description.contains(mistake) == true, "\(String(describing: error))")
  }

  @Test func `a line has a limit`() {
    let text = #"{"to":""# + String(repeating: "0", count: TraceLine.longest) + #""}"#
    #expect(throws: TraceError.self) { try TraceLine.read(Array(text.utf8)) }
  }
}
