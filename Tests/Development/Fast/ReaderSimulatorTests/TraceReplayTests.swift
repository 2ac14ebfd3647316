import Names
import Rig
import Testing

@testable import ReaderSimulator

/// A trace of these lines, without their braces and behind the line that begins each trace.
func trace(_ lines: String..., repeatsTimes: Bool = false) throws -> TraceReplay {
  try TraceReplay(
    Array((["\"trace\":1"] + lines).map { "{\($0)}\n" }.joined().utf8), repeatsTimes: repeatsTimes)
}

@Suite struct TraceReplayTests {
  private func answers(_ replay: inout TraceReplay, to commands: [UInt8]...) -> [[UInt8]?] {
    commands.map { replay.answer(to: .chip($0))?.answer }
  }

  @Test func `a command gets its answers in the recorded order, then the last one`() throws {
    var replay = try trace(
      #""to":"4A0100","from":"00""#, #""to":"4A0103","from":"01""#, #""to":"4A0100","from":"02""#,
      #""to":"4A0100","from":"03""#)
    let look: [UInt8] = [0x4A, 0x01, 0x00]
    let other: [UInt8] = [0x4A, 0x01, 0x03]
    #expect(answers(&replay, to: look, other, look, look, look) == [[0], [1], [2], [3], [3]])
    #expect(answers(&replay, to: other, [0x02]) == [[1], nil])
  }

  @Test func `a command that the host leaves out is passed over`() throws {
    var replay = try trace(
      #""to":"4A0100","from":"00""#, #""to":"02","from":"07""#, #""to":"4A0100","from":"01""#)
    #expect(answers(&replay, to: [0x4A, 1, 0], [0x4A, 1, 0], [0x02]) == [[0], [1], [7]])
  }

  /// libnfc asks for the version of the firmware, and Tagroute does so much later.
  @Test(arguments: [[[0x32, 1]], [[0x4A, 1, 0]]] as [[[UInt8]]])
  func `what libnfc sends when it opens a device does not begin the trace`(_ start: [[UInt8]]) throws {
    var replay = try trace(#""to":"3201","from":"""#, #""to":"4A0100","from":"00""#, #""to":"02","from":"07""#)
    #expect(answers(&replay, to: [0x02]) == [nil])
    for command in start { #expect(replay.answer(to: .chip(command)) != nil) }
    #expect(answers(&replay, to: [0x02]) == [[7]])
  }

  @Test func `commands of one kind are told apart by their code`() throws {
    var replay = try trace(
      #""call":"control","code":1,"to":"AA","from":"01""#, #""call":"control","code":2,"to":"AA","from":"02""#,
      #""call":"attribute","code":1,"from":"03""#, #""call":"transmit","to":"AA","from":"04""#)
    #expect(replay.isOfPCSC)
    #expect(replay.answer(to: .transmit([0xAA]))?.answer == [4])
    #expect(replay.answer(to: .control(2, [0xAA]))?.answer == [2])
    #expect(replay.answer(to: .attribute(1))?.answer == [3])
    #expect(replay.answer(to: .chip([0xAA])) == nil)
  }

  @Test func `times are repeated if that is asked for`() throws {
    let lines = #""to":"4A0100","from":"00","ms":250.5"#
    for repeatsTimes in [false, true] {
      var replay = try trace(lines, repeatsTimes: repeatsTimes)
      _ = replay.answer(to: .chip([0x4A, 1, 0]))
      let times = [replay.takeTime(), replay.takeTime()]
      #expect(times == [repeatsTimes ? .milliseconds(250.5) : nil, nil])
    }
  }

  @Test func `a trace knows what was not repeated yet`() throws {
    var replay = try trace(
      #""slot":66082"#, #""call":"connect","result":"80100066""#, #""call":"connect""#, #""slot":65826,"atr":"3B00""#,
      #""call":"transmit","to":"AA","from":"01""#, #""call":"transmit","to":"AA","from":"02""#, #""slot":131088"#)
    var counts = [replay.remaining.count]
    _ = (replay.takeChange(), replay.powerUp(), replay.powerUp())
    counts.append(replay.remaining.count)
    for _ in 0..<3 {
      _ = replay.answer(to: .transmit([0xAA]))
      counts.append(replay.remaining.count)
    }
    _ = replay.takeChange()
    #expect(counts + [replay.remaining.count] == [5, 3, 2, 1, 1, 0])
  }

  @Test func `the longest times of a trace do not stop a reader for ever`() throws {
    var replay = try trace(
      #""to":"4A0100","from":"00","ms":1e9"#, #""t":0,"slot":34,"atr":"3B00""#, #""t":1e9,"slot":16"#,
      repeatsTimes: true)
    _ = replay.answer(to: .chip([0x4A, 1, 0]))
    let time = replay.takeTime()
    _ = replay.takeChange()
    #expect(time == .seconds(60) && replay.dueChange?.pause == .seconds(86_400))
  }

  @Test(arguments: [
    ("\"to\":\"4\"", "line 2: \"to\" is not made of pairs of hexadecimal digits"),
    ("\"to\":1", "line 2: \"to\" is not a string"),
    ("\"slot\":-1", "line 2: \"slot\" is not a whole number in range"),
  ])
  func `a mistake is an error that names the line`(_ line: String, _ error: String) {
    #expect(throws: TraceError(error)) { try trace(line) }
  }

  @Test func `unknown and empty lines are ignored, but not a missing beginning`() throws {
    let replay = try TraceReplay(Array("{\"trace\":1}\n\n{\"later\":1}\n{\"device\":\"pcsc:ACS 1 00 01\"}".utf8))
    #expect(replay.readerName == "ACS 1" && !replay.isOfPCSC)
    for text in ["", "\n", "{\"removed\":true}\n", "{\"later\":1}\n{\"trace\":1}", "{\"trace\":2}"] {
      #expect(throws: TraceError.self) { try TraceReplay(Array(text.utf8)) }
    }
    let long = String(repeating: "{\"trace\":1}\n", count: TraceReplay.mostLines)
    #expect(throws: Never.self) { try TraceReplay(Array(long.utf8)) }
    #expect(throws: TraceError("a trace has at most 200000 lines")) { try TraceReplay(Array("\(long){}".utf8)) }
  }

  @Test func `the command line names the trace and its mistake`() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("{\"trace\":1}\n{\"to\":\"4\"}\n", to: "trace")
    let error = #expect(throws: SimulatorError.self) { try SimulatorArguments(["--replay", file]).recording() }
    #expect(error?.message == "\(file): line 2: \"to\" is not made of pairs of hexadecimal digits")
    let other = try directory.write("{\"trace\":1}\n{\"slot\":16}\n", to: "other")
    #expect(try SimulatorArguments(["--replay", other]).recording()?.isOfPCSC == true)
    #expect(try SimulatorArguments([]).recording() == nil)
    #expect(throws: SimulatorError.self) { try SimulatorArguments(["--replay", other, "--link", "l"]).recording() }
    for wrong in [["--replay"], ["--replay", file, "--pcsc"], ["--replay", file, "--model", "r502"]] {
      #expect(throws: SimulatorError.self) { try SimulatorArguments(wrong) }
    }
    #expect(throws: SimulatorError.self) { try SimulatorArguments(["--replay", directory.path]).recording() }
  }
}

/// A recorded chip before the simulated one.
@Suite struct RecordedChipTests {
  private func driver(_ lines: String...) throws -> ChipDriver {
    let driver = ChipDriver()
    let text = (["\"trace\":1"] + lines).map { "{\($0)}\n" }.joined()
    driver.chip.recording = try TraceReplay(Array(text.utf8), repeatsTimes: true)
    return driver
  }

  @Test func `recorded answers come before those of the simulated chip`() throws {
    let driver = try driver(#""to":"4A0100","from":"0101004400070412""#, #""to":"40013004","from":"00AA""#)
    driver.expect([
      ([0x4A, 1, 0], [1, 1, 0, 0x44, 0, 7, 4, 0x12]), ([0x40, 1, 0x30, 4], [0, 0xAA]), ([0x02], [0x32, 1, 6, 7]),
    ])
  }

  /// Which part is recorded, the tag or its contents, makes no difference to the other.
  @Test func `a recorded look leaves the simulated tag selected`() throws {
    let driver = try driver(#""to":"4A0100","from":"0101004400070401020304050600""#)
    _ = driver.send(oneRequest)
    _ = driver.place(try type2())
    #expect(driver.answer(select)?.first == 1)
    #expect(driver.answer([0x40, 1, 0x30, 0])?.prefix(4) == [0x00, 0x04, 0x11, 0x22])
  }

  /// libnfc's number for an error, and what makes libnfc report it.
  @Test(
    arguments: [
      (-20, [0x01]), (-30, [0x14]), (-10, [0x29]), (-2, [0x10]), (-90, [0x07]), (-1, nil), (-6, nil),
    ] as [(Int, [UInt8]?)])
  func `a recorded error comes again`(result: Int, answer: [UInt8]?) throws {
    let driver = try driver(#""to":"40013004","result":\#(result)"#)
    let frames = ChipDriver.frames(driver.send([0x40, 1, 0x30, 4]))
    #expect(frames.first == .acknowledge)
    switch (answer, result) {
    case (let answer?, _): #expect(frames.last == .information([0xD5, 0x41] + answer))
    case (nil, -1): #expect(frames.last == .error)
    case (nil, _): #expect(frames.count == 1)
    }
  }

  @Test func `an error without a status byte is an error frame`() throws {
    let driver = try driver(#""to":"4A0100","result":-20"#, #""to":"0006","result":-20"#)
    #expect(ChipDriver.frames(driver.send([0x4A, 1, 0])).last == .error)
    #expect(driver.answer([0x00, 0x06]) == [0x01])
  }

  /// libnfc joins the pieces, so the trace has the whole answer.
  @Test func `a long answer comes in pieces`() throws {
    let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
    let driver = try driver(#""to":"400100B0","from":"00\#(Hexadecimal.text(data))""#)
    var (command, joined): ([UInt8], [UInt8]) = ([0x40, 1, 0x00, 0xB0], [])
    for status in [0x40, 0x40, 0x00] as [UInt8] {
      let piece = try #require(driver.answer(command))
      #expect(piece.first == status)
      joined += piece.dropFirst()
      command = [0x40, 1]
    }
    #expect(joined == data)
  }

  @Test func `a recorded time is that of the whole exchange`() throws {
    let driver = try driver(#""to":"4A0100","from":"00","ms":40"#)
    #expect(ChipDriver.duration(driver.send([0x4A, 1, 0])) == .milliseconds(40))
    #expect(ChipDriver.duration(driver.send([0x02])) == .zero)
  }
}

/// The cards of a trace.
@Suite struct RecordedSlotTests {
  private let card = RecordedCard([0x3B, 0x00])

  private typealias RecordedCard = TraceReplay.RecordedCard

  /// The changes in the slot until there are no more, at most `count`.
  private func changes(_ replay: inout TraceReplay, _ count: Int = .max) -> [TraceReplay.SlotChange] {
    var changes: [TraceReplay.SlotChange] = []
    while changes.count < count, let change = replay.takeChange() { changes.append(change) }
    return changes
  }

  private func answers(_ replay: inout TraceReplay, to commands: UInt8...) -> [[UInt8]?] {
    commands.map { replay.answer(to: .transmit([$0]))?.answer }
  }

  @Test func `a card leaves after its last command, and answers do not come from a later placement`() throws {
    var replay = try trace(
      #""t":0,"slot":16"#, #""t":0.5,"slot":65570,"atr":"3B00""#, #""t":0.6,"call":"transmit","to":"AA","from":"01""#,
      #""t":0.7,"call":"transmit","to":"BB","from":"02""#, #""t":60,"slot":131088"#,
      #""t":61,"slot":196642,"atr":"3B00""#, #""t":62,"call":"transmit","to":"AA","from":"03""#)
    #expect(replay.dueChange?.pause == .milliseconds(500))
    #expect(changes(&replay, 1) == [.inserted(card)])
    #expect(replay.card == card && replay.dueChange == nil)
    #expect(answers(&replay, to: 0xAA, 0xAA, 0xBB) == [[1], [1], [2]])
    // Nobody waits a minute.
    #expect(replay.dueChange?.pause == .seconds(1))
    #expect(changes(&replay, 1) == [.removed])
    #expect(replay.card == nil)
    #expect(changes(&replay) == [.inserted(card)])
    #expect(answers(&replay, to: 0xAA) == [[3]])
    #expect(replay.dueChange == nil)
  }

  @Test func `another count of pcscd is another card`() throws {
    var replay = try trace(#""slot":65570,"atr":"3B00""#, #""slot":65826,"atr":"3B00""#, #""slot":196642,"atr":"3B01""#)
    #expect(changes(&replay) == [.inserted(card), .removed, .inserted(RecordedCard([0x3B, 0x01]))])
  }

  @Test func `nobody waits for a command whose bytes were left out`() throws {
    var replay = try trace(#""slot":65570,"atr":"3B00""#, #""call":"transmit","session":true"#, #""slot":131088"#)
    _ = changes(&replay, 1)
    #expect(replay.dueChange != nil)
  }

  @Test func `a mute card gets power when the recorded one did`() throws {
    var replay = try trace(
      #""slot":66082"#, #""call":"connect","result":"80100066""#, #""call":"connect""#, #""slot":65826,"atr":"3B01""#)
    #expect(changes(&replay) == [.inserted(RecordedCard([], isMute: true))])
    let powerUps = [replay.powerUp(), replay.powerUp(), replay.powerUp(), replay.powerUp()]
    #expect(powerUps == [nil, nil, [0x3B, 0x01], [0x3B, 0x01]])
  }

  @Test func `a reset that failed fails again`() throws {
    var replay = try trace(
      #""slot":34,"atr":"3B00""#, #""call":"transmit","to":"AA","from":"6300""#,
      #""call":"reset","result":"80100066""#, #""call":"transmit","to":"AA","from":"9000""#)
    _ = changes(&replay)
    let before = replay.powerUp()
    #expect(answers(&replay, to: 0xAA) == [[0x63, 0x00]])
    let after = [replay.powerUp(), replay.powerUp()]
    #expect(before == card.answerToReset && after == [nil, card.answerToReset])
  }

  /// The driver's answer, and whether the card is still there.
  @Test(arguments: [
    ("9000", DriverAnswer.success([0x90, 0x00]), true),
    ("80100016", .failure(.communicationError), true), ("80100069", .failure(.communicationError), false),
    ("8010000C", .failure(.cardAbsent), false), ("80100017", .failure(.noSuchDevice), true),
    ("80100022", .failure(.notSupported), true),
  ])
  func `a recorded failure comes again`(result: String, answer: DriverAnswer, isThere: Bool) throws {
    var slot = SimulatedSlot(
      id: CardSlotID(number: 0), reader: CardReaderID(number: 0), model: .recorded(as: "Example"), kind: .contactless)
    let key = result.count == 4 ? "from" : "result"
    slot.recording = try trace(
      #""slot":34,"atr":"3B00""#, #""call":"transmit","to":"AA","\#(key)":"\#(result)""#, #""slot":16"#)
    let (isInserted, answerToReset) = (slot.followRecording(), slot.powerUp())
    #expect(isInserted && answerToReset == card.answerToReset)
    let answers = [slot.transmit([0xBB]), slot.transmit([0xAA])]
    #expect(answers == [.success(ResponseStatus.failure), answer])
    #expect((slot.recording?.card != nil) == isThere)
    let leaves = slot.followRecording()
    #expect(leaves == isThere)
  }

  /// A program knows the recorded reader by the name that its driver gave it.
  @Test(arguments: [
    ("ACS ACR122U PICC Interface", "072f:2200"), ("ACS ACR122U PICC Interface 01", "072f:2200"),
    ("Example Contactless", "0000:0000"),
  ])
  func `the reader has the recorded name`(name: String, identity: String) {
    let model = CardReaderModel.recorded(as: name)
    #expect(model.friendlyName == name && model.slots.count == 1 && model.usbIdentity == identity)
  }
}
