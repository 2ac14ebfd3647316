import Testing

@testable import ReaderSimulator

/// The command line and the control commands of readers of pcscd.
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
