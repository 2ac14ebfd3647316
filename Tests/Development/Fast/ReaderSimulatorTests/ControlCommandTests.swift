import EventLoop
import NDEF
import Rig
import Testing

@testable import ReaderSimulator

@Suite struct ControlCommandTests {
  @Test func `tap commands are parsed`() throws {
    #expect(try ControlCommand("tap https://a.example/") == .tap(.init(contents: .uri("https://a.example/"))))
    #expect(
      try ControlCommand("tap tel:1 --type 4 --uid 08112233 --add")
        == .tap(
          .init(contents: .uri("tel:1"), type: .type4, uid: .fixed([0x08, 0x11, 0x22, 0x33]), isAdditional: true)))
    #expect(
      try ControlCommand("tap --type 4 --ndef a.bin") == .tap(.init(contents: .messageFile("a.bin"), type: .type4)))
    #expect(
      try ControlCommand("tap x: --type 3 --model phone")
        == .tap(.init(contents: .uri("x:"), type: .type3, card: .phone)))
    #expect(try ControlCommand("tap --type payment") == .tap(.init(contents: .none, type: .payment)))
    #expect(try ControlCommand("tap --type application") == .tap(.init(contents: .none, type: .application)))
    #expect(
      try ControlCommand(" tap --memory a.mfd --model ntag213 ")
        == .tap(.init(contents: .memoryFile("a.mfd"), model: .ntag213)))
    #expect(try ControlCommand("tap x: --uid random") == .tap(.init(contents: .uri("x:"), uid: .random)))
  }

  @Test(
    arguments: [
      ("remove", .remove(nil)), ("remove 7", .remove(7)), ("unplug", .unplug), ("plug", .plug), ("quit", .quit),
      ("counters", .counters(reset: false)), ("counters reset", .counters(reset: true)), ("help", .help),
      ("fault none", .noFaults), ("fault delay 40", .fault(.delay(.milliseconds(40)))),
    ] as [(String, ControlCommand)])
  func `all other commands are parsed`(line: String, command: ControlCommand) throws {
    #expect(try ControlCommand(line) == command)
  }

  @Test(arguments: [
    "", "  ", "tup", "tap", "tap --type", "tap --type 7 x:", "tap --type payment x:",
    "tap --type 3 --model ntag215 x:",
    "tap --model phone x:", "tap --type 3 --uid random x:", "tap a: b:", "tap --ndef", "tap --uid 0x x:",
    "tap --uid 01 x:",
    "tap --uid 88010203 x:", "tap --model ntag999 x:", "tap --memory f --type 4", "tap --memory f --uid 01020304",
    "tap --bogus x:", "remove x", "remove -1", "fault", "fault bogus", "fault delay",
    "fault delay -1", "counters bogus", "commands",
  ])
  func `an invalid command is an error with a reason`(line: String) {
    let error = #expect(throws: SimulatorError.self) { try ControlCommand(line) }
    #expect(error?.message.contains(": ") == true)
  }

  @Test func `the command line is parsed`() throws {
    let arguments = try SimulatorArguments(["--link", "l", "--timing", "real", "--tap", "https://a.example"])
    #expect(arguments.link == "l" && arguments.timing == .realistic)
    #expect(arguments.taps.map(\.contents) == [.uri("https://a.example")])
    #expect(try SimulatorArguments(["--help"]).text == SimulatorArguments.usage)
    #expect(try SimulatorArguments(["--version"]).text?.hasPrefix("tagroute-simulator ") == true)
    for wrong in [["--link"], ["--timing", "slow"], ["x"], ["--tap", "--add"]] {
      #expect(throws: SimulatorError.self) { try SimulatorArguments(wrong) }
    }
  }
}

@Suite struct CardCommandTests {
  @Test func `the command line names the models`() throws {
    let arguments = try SimulatorArguments(["--pcsc", "--model", "acr122u", "--model", "r502", "--tap", "tel:1"])
    #expect(arguments.servesPCSC && arguments.models == [.acr122U, .r502] && arguments.taps.count == 1)
    #expect(try SimulatorArguments(["--pcsc"]).models == [.acr1252U])
    for wrong in [["--model", "r502"], ["--pcsc", "--model", "x"], ["--pcsc", "--link", "l"]] {
      #expect(throws: SimulatorError.self) { try SimulatorArguments(wrong) }
    }
  }

  @Test(
    arguments: [
      ("fault status 6300", .cardFault(.status(0x6300))),
      ("fault status 6c10 3", .cardFault(.status(0x6C10, times: 3))),
      ("fault removal", .cardFault(.removal())), ("fault flicker", .cardFault(.flicker())),
      ("fault silence", .cardFault(.silence())), ("fault mute", .cardFault(.mute())), ("model", .model),
    ] as [(String, ControlCommand)])
  func `faults of cards are parsed`(line: String, command: ControlCommand) throws {
    #expect(try ControlCommand(line) == command)
  }

  @Test(arguments: [
    "fault status", "fault status 63", "fault status 63zz", "fault status 6300 0", "fault status 6300 1 2",
    "tap --type piv tel:1", "tap tel:1 --slot x", "tap tel:1 --type 5 --uid 01020304", "tap tel:1 --model slix",
    "model x",
  ])
  func `a wrong fault or card is an error with a reason`(line: String) {
    let error = #expect(throws: SimulatorError.self) { try ControlCommand(line) }
    #expect(error?.message.contains(": ") == true)
  }
}

@Suite(.timeLimit(.minutes(5))) struct ControlSessionTests {
  private func session() async throws -> ControlSession { ControlSession(reader: try await .start()) }

  @Test func `a tap replaces the tags on the reader unless it is added`() async throws {
    let session = try await session()
    #expect(await session.answer(to: "tap https://example.com/").text == "ok tag 1")
    let memory = try #require(await session.reader.memory(of: TagID(number: 1)))
    #expect(try NDEFMessage(decoding: Array(memory[18..<(18 + Int(memory[17]))])) == .uri("https://example.com/"))
    #expect(await session.answer(to: "tap https://example.com/ --type 4").text == "ok tag 2")
    #expect(await session.answer(to: "tap tel:1 --add").text == "ok tag 3")
    #expect(await session.reader.tags == [TagID(number: 2), TagID(number: 3)])
    #expect(await session.answer(to: "tap https://example.com/ --type 1 --add").text == "ok tag 4")
    #expect(await session.reader.memory(of: TagID(number: 4))?.count == 120)
    #expect(await session.answer(to: "tap tel:1 --type 1 --uid 01020304").text.hasPrefix("error a Type 1 tag's UID"))
    #expect(await session.answer(to: "remove 4").text == "ok")
    #expect(await session.answer(to: "remove 2").text == "ok")
    #expect(await session.answer(to: "remove 2").text == "error remove: no tag 2 lies on the reader")
    #expect(await session.answer(to: "remove").text == "ok")
    #expect(await session.reader.tags.isEmpty)
    await session.reader.stop()
  }

  @Test func `a tag can be loaded from a file`() async throws {
    let directory = try TemporaryDirectory()
    let session = try await session()
    let message = try directory.write([0xD0, 0x00, 0x00], to: "message")
    let garbage = try directory.write([0xFF], to: "garbage")
    let memory = try directory.write(try type2(.ntag213).tag.memory, to: "memory")
    #expect(await session.answer(to: "tap --type 4 --ndef \(message)").text == "ok tag 1")
    #expect(await session.answer(to: "tap --memory \(memory)").text == "ok tag 2")
    #expect(await session.reader.memory(of: TagID(number: 2))?.count == 180)
    #expect(await session.answer(to: "tap --ndef \(garbage)").text.hasPrefix("error \(garbage): not an NDEF message"))
    #expect(await session.answer(to: "tap --ndef \(directory.file("none"))").text.contains("No such file"))
    #expect(await session.answer(to: "tap --ndef \(directory.path)").text.hasPrefix("error "))
    #expect(await session.reader.tags == [TagID(number: 2)])
    await session.reader.stop()
  }

  @Test func `an invalid command does not disturb the session`() async throws {
    let session = try await session()
    let answer = await session.answer(to: "nonsense")
    #expect(answer.text == "error nonsense: no such command; try help" && !answer.quits)
    #expect(await session.answer(to: "counters").text.hasPrefix("ok commands=0 exchanges=0 "))
    #expect(await session.answer(to: "unplug").text == "ok")
    #expect(await session.answer(to: "plug").text.hasPrefix("ok /dev/pts/"))
    #expect(await session.answer(to: "wait").text.hasPrefix("error wait: "))
    #expect(await session.answer(to: "wait 0").text.hasPrefix("error wait: "))
    #expect(await session.answer(to: "quit").quits)
    await session.reader.stop()
  }
}
