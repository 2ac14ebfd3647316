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
    #expect(try SimulatorArguments(["--help"]).wantsHelp)
    for wrong in [["--link"], ["--timing", "slow"], ["x"], ["--tap", "--add"]] {
      #expect(throws: SimulatorError.self) { try SimulatorArguments(wrong) }
    }
  }
}
