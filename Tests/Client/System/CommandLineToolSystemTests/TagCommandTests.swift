import Bus
import Foundation
import NDEF
import Names
import TestKit
import Testing

@testable import CommandLineTool

/// The real program, on a bus with a stand-in for the daemon that finds cards.
@Suite(.timeLimit(.minutes(5))) struct TagCommandTests {
  private static func card(_ records: [NDEFRecord]) throws -> SessionCard {
    SessionCard(message: try NDEFMessage(records: records).encoded())
  }

  @Test func `read prints the content of a tag and escapes control characters`() async throws {
    let place = try await Place(
      with: Self.card([
        URIRecord("https://example.com/\u{1B}]0;x\u{7}").record(),
        TextRecord("a\nb\u{202E}c", language: "en").record(),
      ]))
    let result = try await place.run(["read"])
    #expect(result.code == .exited(0))
    #expect(
      result.output == """
        type-2 04A1B2C3D4E5F6: read-write, 37 of 137 bytes
          link: https://example.com/\\u{1b}]0;x\\u{7}
          text (en): a\\u{a}b\\u{202e}c

        """)
    #expect(result.errors.isEmpty)
    let (options, requests) = try await place.session(of: 4)
    #expect(options["access"] == .string("read") && options["message"]?.asString?.isEmpty == false)
    #expect(requests[1...] == [.operation("QueryNDEF", []), .operation("ReadNDEF", []), .invalidate("")])
  }

  @Test func `read prints JSON`() async throws {
    let place = try await Place(with: Self.card([URIRecord("https://example.com").record()]))
    let json = try await place.object(["read"])
    #expect(Set(json.keys) == ["technology", "uid", "status", "capacity", "message", "records"])
    #expect(json["technology"] as? String == "type-2" && json["uid"] as? String == "04A1B2C3D4E5F6")
    #expect(json["status"] as? String == "read-write" && json["capacity"] as? Int == 137)
    #expect(json["message"] as? String == "D1010C55046578616D706C652E636F6D")
    let records = try #require(json["records"] as? [[String: Any]])
    #expect(records.map { $0["uri"] as? String } == ["https://example.com"])
    #expect(records[0]["language"] is NSNull && records[0]["id"] is NSNull)
    #expect(records[0]["type"] as? String == "U" && records[0]["format"] as? String == "well-known")

    try await place.daemon.place(SessionCard())
    let empty = try await place.object(["read"])
    #expect(empty["message"] is NSNull && (empty["records"] as? [Any])?.isEmpty == true)
  }

  @Test func `read --follow reads tag after tag until it is interrupted`() async throws {
    let place = try await Place(with: Self.card([URIRecord("https://example.com/1").record()]))
    let process = try place.start(["read", "--follow", "--json"])
    try await process.line(containing: "example.com/1")
    try await place.daemon.remove()
    var other = try Self.card([URIRecord("https://example.com/2").record()])
    other.uid[0] = 8
    try await place.daemon.place(other)
    #expect(try await process.line(containing: "example.com/2").contains(#""uid":"08A1B2C3D4E5F6""#))
    #expect(try await process.exit(after: SIGINT) == .signalled(SIGINT))
    #expect(await place.next(6).last == .invalidate(""))
  }

  @Test func `a tag without a message exits with 1`() async throws {
    let place = try await Place(with: SessionCard.transit(blocks: []))
    let none = try await place.run(["read"])
    #expect(none.code == .exited(1))
    #expect(none.output.isEmpty)
    #expect(none.errors == ["tagroute: type-3 0102030405060708: holds no NDEF message"])
    let requests = await place.next(3)
    #expect(requests.last == .invalidate("The tag holds no message."), "\(requests)")
  }

  @Test(
    arguments: [
      ("type-2", [0x30, 3], [UInt8](repeating: 0, count: 16), "blank: not formatted"),
      ("type-2", [0x30, 3], [0xE1] + [UInt8](repeating: 0, count: 15), "holds no NDEF message"),
      ("type-2", [0x30, 3], [0x00], "holds no NDEF message"),
      ("type-5", [0x02, 0x20, 0], [0, 0, 0, 0, 0], "blank: not formatted"),
      ("type-5", [0x02, 0x20, 0], [1, 0], "holds no NDEF message"),
      ("type-5", [0x02, 0x20, 0], [0, 0xE1, 0, 0, 0], "holds no NDEF message"),
    ] as [(String, [UInt8], [UInt8], String)])
  func `a blank tag is called so`(
    technology: String, command: [UInt8], answer: [UInt8], words: String
  ) async throws {
    let place = try await Place(starter: "`a blank tag is called so`_\(technology)_\(answer)")
    var card = SessionCard(message: nil)
    (card.technology, card.status, card.capacity) = (technology, "not-supported", 0)
    card.answer = { $0 == command ? answer : [] }
    try await place.daemon.place(card)
    let read = try await place.run(["read"])
    #expect(read.code == .exited(1) && read.errors == ["tagroute: \(technology) 04A1B2C3D4E5F6: \(words)"])
    let isBlank = words.hasPrefix("blank")
    let info = try await place.run(["info"]).output
    #expect(info.contains("\nNDEF: \(isBlank ? words : "not-supported")\n"), "\(info)")
    #expect(try await place.object(["info"])["status"] as? String == "not-supported")
  }

  @Test func `a tag that is taken away too soon exits with 75`() async throws {
    var card = SessionCard()
    card.failure = BusError(name: Names.Errors.tagLost, message: "it was taken away")
    let place = try await Place(with: card)
    let lost = try await place.run(["read"])
    #expect(lost.code == .exited(75))
    #expect(lost.errors == ["tagroute: the tag: it was taken away"])
    let requests = await place.next(3)
    #expect(requests.last == .invalidate("The tag was taken away too soon."), "\(requests)")

    // While it is asked whether it is blank.
    var other = SessionCard(message: nil)
    (other.status, other.capacity) = ("not-supported", 0)
    other.answer = { _ in throw BusError(name: Names.Errors.tagLost, message: "it was taken away") }
    try await place.daemon.place(other)
    for command in ["read", "info"] {
      let lost = try await place.run([command])
      #expect(lost.code == .exited(75) && lost.errors == ["tagroute: the tag: it was taken away"], "\(command)")
    }
  }

  @Test func `a refused session exits with the code of its error`() async throws {
    let place = try await Place()
    await place.daemon.refuse(BusError(name: Names.Errors.notAuthorized, message: "not now"))
    let result = try await place.run(["read"])
    #expect(result.code == .exited(77))
    #expect(result.errors.count == 1 && result.errors[0].hasSuffix("not now"))
  }

  @Test func `no tag in time exits with 75`() async throws {
    let result = try await Place().run(["read", "--timeout", "1"])
    #expect(result.code == .exited(75))
    #expect(result.errors == ["tagroute: no tag came within 1 s: try again"])
  }

  @Test func `the end of a session sets the exit code`() async throws {
    let place = try await Place()
    for (reason, code) in [("timed-out", 75), ("cancelled", 1), ("reader-lost", 69), ("session-inactive", 77)] {
      let process = try place.start(["read"])
      _ = try await place.nextStart()
      // The stand-in sends its answer to the call before this signal.
      try await place.daemon.end(reason)
      #expect(try await process.exit() == .exited(Int32(code)))
    }
  }

  @Test func `a reader is selected by name, device, number or path`() async throws {
    let place = try await Place(with: SessionCard())
    for name in ["a reader", ReaderSessionStandIn.device, "1", ReaderSessionStandIn.reader.string] {
      #expect(try await place.run(["read", "--reader", name]).code == .exited(0))
      let options = try await place.nextStart()
      #expect(options["reader"] == .objectPath(ReaderSessionStandIn.reader))
    }
    let none = try await place.run(["read", "--reader", "2"])
    #expect(none.code == .exited(75))
    #expect(none.errors == ["tagroute: no reader 2 found: tagroute status lists the readers"])
  }

  @Test func `write stores the message and reports it`() async throws {
    let place = try await Place(with: SessionCard())
    let json = try await place.object(["write", "--uri", "https://example.com"])
    #expect(json["written"] as? Int == 16 && json["uid"] as? String == "04A1B2C3D4E5F6")
    #expect(await place.daemon.placed?.message == (try NDEFMessage.uri("https://example.com").encoded()))
    let file = try TemporaryDirectory()
    let message = try NDEFMessage(records: [.empty]).encoded()
    let text = try await place.run(["write", "--ndef", try file.write(message, to: "m")])
    #expect(text.output == "type-2 04A1B2C3D4E5F6: 3 bytes written and read back\n")
    #expect(await place.daemon.placed?.message == message)
  }

  @Test func `lock asks first and makes the tag read-only`() async throws {
    let place = try await Place(with: SessionCard())
    let refused = try await place.run(["lock"])
    #expect(refused.code == .exited(64))
    #expect(refused.errors.first?.contains("cannot be undone") == true)
    #expect(await place.daemon.placed?.status == "read-write")

    let script = try BuiltProducts.systemProgram("script", package: "bsdutils")
    let command = "\(try BuiltProducts.program("tagroute")) lock"
    for (answer, status) in [("n", "read-write"), ("y", "read-only")] {
      let process = try place.start(["-qec", command, "/dev/null"], program: script, input: true)
      try await process.send(answer)
      #expect(try await process.exit() == .exited(answer == "y" ? 0 : 1))
      #expect(await process.log().joined().contains("cannot be undone"))
      #expect(await place.daemon.placed?.status == status)
    }
    let again = try await place.run(["lock", "--yes"])
    #expect(again.code == .exited(77))
    #expect(again.errors == ["tagroute: the tag is read-only"])
  }

  /// Such a daemon does not report the end of a round. A command that waited for it would time out.
  @Test func `a daemon of interface version 1 serves the commands that change a tag`() async throws {
    let place = try await Place()
    await place.daemon.beOfInterfaceVersion1()
    var card = SessionCard()
    card.answer = { _ in [0x0A] }
    try await place.daemon.place(card)
    for command in [["transceive", "--write", "A2040000"], ["write", "--uri", "tel:1"], ["lock", "--yes"]] {
      let result = try await place.run(command + ["--timeout", "30"])
      #expect(result.code == .exited(0), "\(command): \(result.errors)")
    }
    #expect(await place.daemon.placed?.status == "read-only")
  }

  @Test func `progress is shown on a terminal only`() async throws {
    let place = try await Place()
    var card = try Self.card([URIRecord("https://example.com").record()])
    card.progress = [1024]
    try await place.daemon.place(card)
    #expect(try await place.run(["read"]).errors.isEmpty)
    let script = try BuiltProducts.systemProgram("script", package: "bsdutils")
    let command = "\(try BuiltProducts.program("tagroute")) read"
    let process = try place.start(["-qec", command, "/dev/null"], program: script, input: true)
    #expect(try await process.exit() == .exited(0))
    let shown = await process.log().joined()
    #expect(shown.contains("\r\u{1B}[K1024 bytes … \r\u{1B}[Ktype-2 "), "\(shown)")
  }

  @Test func `info prints all properties of a tag`() async throws {
    let place = try await Place()
    var card = SessionCard(message: [0xD0, 0, 0])
    card.technology = "type-4a"
    card.properties = ["ATQA": .bytes([0x03, 0x44]), "SAK": .byte(0x20), "HistoricalBytes": .bytes([0x80, 0x75])]
    try await place.daemon.place(card)
    let json = try await place.object(["info"])
    #expect(json["atqa"] as? String == "0344" && json["sak"] as? String == "20")
    #expect(json["historicalBytes"] as? String == "8075" && json["size"] as? Int == 3)
    #expect(json["idm"] is NSNull && json["systemCode"] is NSNull)
    #expect(
      try await place.run(["info"]).output == """
        technology: type-4a, ISO-DEP card of Type A (NFC Forum Type 4)
        UID: 04A1B2C3D4E5F6
        NDEF: read-write, 3 of 137 bytes used
        ATQA: 0344
        SAK: 20
        historical bytes: 8075

        """)
  }

  @Test func `info names the chip`() async throws {
    let place = try await Place()
    var card = SessionCard(message: [0xD0, 0, 0])
    try await place.daemon.place(card)
    #expect(try await place.object(["info"])["chip"] is NSNull)
    card.answer = { $0 == [0x60] ? [0, 4, 4, 2, 1, 0, 0x0F, 3] : [] }
    try await place.daemon.place(card)
    let json = try await place.object(["info"])
    #expect(json["chip"] as? String == "NTAG213" && json["version"] as? String == "0004040201000F03")
    #expect(try await place.run(["info"]).output.contains("chip: NTAG213\nversion: 0004040201000F03\n"))
    #expect(ChipVersion([0, 4, 3, 1, 4, 0, 0x0F, 3])?.name == "MIFARE Ultralight AES")
    #expect(ChipVersion([0, 4, 4, 2, 4, 0, 0x0F, 3])?.name == "NTAG 223 DNA")
    #expect(ChipVersion([0, 4, 4, 2, 1, 0, 0x77, 3])?.name == nil)
    #expect(ChipVersion([0, 4, 4]) == nil)
  }

  @Test func `info prints what it knows about a tag that refuses to be read`() async throws {
    let place = try await Place()
    var card = SessionCard(message: [0xD0, 0, 0])
    card.technology = "type-4b"
    card.properties = ["ApplicationData": .bytes([0, 0, 0, 1]), "ProtocolInfo": .bytes([0, 0x51, 0x80])]
    card.failure = BusError(name: Names.Errors.refused, message: "it wants a password")
    try await place.daemon.place(card)
    let json = try await place.object(["info"])
    #expect(json["status"] as? String == "refused" && json["protocolInfo"] as? String == "005180")
    #expect(json["capacity"] is NSNull && json["size"] is NSNull)
    #expect(
      try await place.run(["info"]).output == """
        technology: type-4b, ISO-DEP card of Type B (NFC Forum Type 4)
        UID: 04A1B2C3D4E5F6
        NDEF: refused, it wants a password
        application data: 00000001
        protocol info: 005180

        """)
    #expect(try await place.run(["read"]).code == .exited(77))
  }

  @Test func `no rule is written for the UID of a Type B tag`() async throws {
    let place = try await Place()
    var card = SessionCard(message: nil)
    card.technology = "type-4b"
    try await place.daemon.place(card)
    let result = try await place.run(["rules", "add", "lamp", "--wait", "--show"])
    #expect(result.code == .exited(1))
    #expect(result.errors.contains { $0.contains("a Type B tag may have another UID at each tap") })
  }

  @Test func `transceive prints the answers that came before a failure`() async throws {
    let place = try await Place()
    var card = SessionCard(message: nil)
    card.answer = { command in
      guard command == [0x60] else { throw BusError(name: Names.Errors.tagLost, message: "the tag was removed") }
      return [1, 2]
    }
    try await place.daemon.place(card)
    let result = try await place.run(["transceive", "--json", "60", "61", "60"])
    #expect(result.code == .exited(75))
    #expect(result.output.contains("0102") && !result.output.contains("61"))
  }

  @Test func `transceive sends the typed commands and prints the answers`() async throws {
    let place = try await Place(with: SessionCard.transit(blocks: [Array(repeating: 7, count: 16)]))
    let result = try await place.run([
      "transceive", "--system-code", "0003", "--answer-within", "250", "02IDM010F09", "06IDM010F09018000",
    ])
    #expect(
      result.output == """
        030102030405060708010000
        07010203040506070800000107070707070707070707070707070707

        """)
    let (options, requests) = try await place.session(of: 2)
    #expect(options["system-codes"] == .array(element: "q", [.uint16(3)]) && options["access"] == .string("read"))
    #expect(requests[1] == .operation("Transceive", [.bytes([2, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x0F, 9]), .uint32(250)]))
    for wrong in [
      ["transceive", "xyz"], ["transceive", "--aid", "0102", "00"], ["transceive", "--answer-within=0", "00"],
    ] {
      #expect(try await place.run(wrong).code == .exited(64))
    }
  }
}

/// Neither the content of a tag nor the daemon's text about it can control the terminal. HostileRecordTests try each
/// text alone.
@Suite(.timeLimit(.minutes(5))) struct HostileTagTests {
  @Test(arguments: [["read"], ["read", "--json"], ["info"], ["info", "--json"]])
  func `hostile text from a tag is escaped`(command: [String]) async throws {
    let place = try await Place(starter: "`hostile text from a tag is escaped`_\(command.joined())")
    let text = HostileText.samples.map(\.text).filter { $0.utf8.count < 10_000 }.joined(separator: " ")
    let records = [
      URIRecord("https://example.com/" + text).record(), try TextRecord(text, language: "en").record(),
      NDEFRecord(typeNameFormat: .external, type: Array(text.utf8.prefix(100)), payload: Array(text.utf8)),
    ]
    var card = SessionCard(message: try NDEFMessage(records: records).encoded())
    // D-Bus strings cannot contain U+0000.
    card.technology = text.replacing("\0", with: "")
    try await place.daemon.place(card)
    let result = try await place.run(command)
    let printed = result.output + result.errors.joined(separator: "\n")
    #expect(!printed.isEmpty)
    #expect(HostileText.unsafe(in: printed).isEmpty, "\(printed.debugDescription.prefix(2000))")
  }
}

/// `tagroute write --wifi` on a terminal. Python is the person at it: it types after each question.
@Suite(.timeLimit(.minutes(5))) struct WiFiPasswordTests {
  @Test func `two passwords that differ are not written`() async throws {
    let shown = try await typing("correct horse\n", "correct house\n")
    #expect(shown.hasSuffix("tagroute: the two passwords differ: nothing is written. Try again\nexit 1, echo on"))
    #expect(!shown.contains("horse") && !shown.contains("house"))
  }

  @Test func `the interrupt key ends the question, and the terminal shows again what is typed`() async throws {
    #expect(try await typing("\u{3}").hasSuffix("tagroute: nothing is written\nexit 130, echo on"))
    #expect(try await typing("correct horse\n", "corr\u{3}").hasSuffix("nothing is written\nexit 130, echo on"))
  }

  @Test func `the same password twice is taken`() async throws {
    // There is no daemon, so this is as far as the command gets.
    #expect(try await typing("correct horse\n", "correct horse\n").contains("exit 69, echo on"))
  }

  /// What the terminal showed, how the command ended, and the state of the terminal then.
  private func typing(_ answers: String..., starter: String = #function) async throws -> String {
    let program = """
      import os, pty, subprocess, sys, termios
      terminal, end = pty.openpty()
      command = [sys.argv[1], "write", "--wifi", "Guest"]
      child = subprocess.Popen(command, stdin=end, stdout=end, stderr=end, start_new_session=True)
      shown, asked = "", 0
      for answer in sys.argv[2:]:
        while shown.count(": ") == asked:
          shown += os.read(terminal, 4096).decode()
        asked = shown.count(": ")
        os.write(terminal, answer.encode())
      status = child.wait()
      echo = "on" if termios.tcgetattr(end)[3] & termios.ECHO else "off"
      os.set_blocking(terminal, False)
      try:
        while True: shown += os.read(terminal, 4096).decode()
      except OSError:
        pass
      print(shown.replace("\\r\\n", "\\n") + f"exit {status}, echo {echo}")
      """
    let process = try ChildProcess(
      "/usr/bin/python3", ["-c", program, BuiltProducts.program("tagroute")] + answers,
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"],
      starter: starter)
    #expect(try await process.exit() == .exited(0))
    return String(await process.standardOutput().dropLast())
  }
}
