/// The command line of `tagroute-simulator`.
struct SimulatorArguments: Equatable {
  var link: String?
  var timing = TimingModel.immediate
  var taps: [ControlCommand.Tap] = []
  /// Whether to serve PC/SC readers instead of a PN532.
  var servesPCSC = false
  /// The models of the PC/SC readers.
  var models: [CardReaderModel] = []
  var wantsHelp = false

  static let usage = """
    usage: tagroute-simulator [--link PATH] [--timing fast|real] [--tap URI]
           tagroute-simulator --pcsc [--model NAME]… [--tap URI]
           tagroute-simulator demo [OPTION]…

    A PN532 reader on a pseudo-terminal, for libnfc to open as pn532_uart:PATH. Prints "ready PATH" first. Or PC/SC
    readers behind a pcscd of their own. Prints "ready SOCKET" first, for PCSCLITE_CSOCK_NAME.

      --link PATH        also make PATH a symbolic link to the pseudo-terminal
      --timing fast|real answer at once (the default), or as fast as the line and the field allow
      --tap URI          begin with a tag that holds this URI
      --pcsc             start a pcscd with simulated readers
      --model NAME       a reader of this model (repeatable; acr1252u without it):
                         \(CardReaderModel.all.map(\.name).joined(separator: ", "))

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
      case "--pcsc": servesPCSC = true
      case "--model":
        let name = try Self.value(of: option, &rest)
        guard let model = CardReaderModel.named(name) else {
          throw SimulatorError("--model: one of \(CardReaderModel.all.map(\.name).joined(separator: ", "))")
        }
        models.append(model)
      case "--tap":
        var tap = try ControlCommand.tap([try Self.value(of: option, &rest)])
        tap.isAdditional = true
        taps.append(tap)
      default: throw SimulatorError("\(option): no such option")
      }
    }
    guard servesPCSC || models.isEmpty else { throw SimulatorError("--model: only with --pcsc") }
    guard !servesPCSC || link == nil && timing == .immediate else {
      throw SimulatorError("--pcsc: not with --link or --timing")
    }
    if servesPCSC && models.isEmpty { models = [.acr1252U] }
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(SimulatorError) -> String {
    guard let value = rest.popFirst() else { throw SimulatorError("\(option): its value is missing") }
    return value
  }
}
