/// The command line of `tagroute-simulator`.
struct SimulatorArguments: Equatable {
  var link: String?
  var timing = TimingModel.immediate
  var taps: [ControlCommand.Tap] = []
  var wantsHelp = false

  static let usage = """
    usage: tagroute-simulator [--link PATH] [--timing fast|real] [--tap URI]

    A PN532 reader on a pseudo-terminal, for libnfc to open as pn532_uart:PATH. Prints "ready PATH" first.

      --link PATH        also make PATH a symbolic link to the pseudo-terminal
      --timing fast|real answer at once (the default), or as fast as the line and the field allow
      --tap URI          begin with a tag that holds this URI

    Commands, one a line, each answered by a line "ok …" or "error what: why":
      \(ControlCommand.summary)
    """

  /// The error names the mistake.
  init(_ arguments: [String]) throws(SimulatorError) {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--help", "-h": wantsHelp = true
      case "--link": link = try Self.value(of: option, &rest)
      case "--timing":
        switch try Self.value(of: option, &rest) {
        case "fast": timing = .immediate
        case "real": timing = .realistic
        default: throw SimulatorError("--timing: fast or real")
        }
      case "--tap":
        var tap = try ControlCommand.tap([try Self.value(of: option, &rest)])
        tap.isAdditional = true
        taps.append(tap)
      default: throw SimulatorError("\(option): no such option")
      }
    }
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(SimulatorError) -> String {
    guard let value = rest.popFirst() else { throw SimulatorError("\(option): its value is missing") }
    return value
  }
}
