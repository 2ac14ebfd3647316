/// Executes control commands.
protocol CommandPerformer: Sendable {
  /// Returns the answer: `ok` and details.
  func perform(_ command: ControlCommand) async throws(SimulatorError) -> String
}

extension CommandPerformer {
  /// Answers a line with one line: `ok …` or `error what: why`. Returns it without its newline, and whether the program
  /// should quit.
  func answer(to line: String) async -> (text: String, quits: Bool) {
    do throws(SimulatorError) {
      let command = try ControlCommand(line)
      return (try await perform(command), command == .quit)
    } catch {
      return ("error \(error)", false)
    }
  }
}

/// The commands for a simulated PN532.
struct ControlSession: CommandPerformer {
  let reader: SimulatedReader

  /// Places a tag on the reader and returns the answer.
  func tap(_ tap: ControlCommand.Tap) async throws(SimulatorError) -> String {
    let tag = try tap.makeTag()
    if !tap.isAdditional { await reader.removeAll() }
    let id = await reader.place(tag)
    return "ok tag \(id)"
  }

  func perform(_ command: ControlCommand) async throws(SimulatorError) -> String {
    switch command {
    case .tap(let tap): return try await self.tap(tap)
    case .remove(let number?):
      guard await reader.remove(TagID(number: number)) != nil else {
        throw SimulatorError("remove: no tag \(number) lies on the reader")
      }
      return "ok"
    case .remove(nil): await reader.removeAll()
    case .fault(let fault): await reader.add(fault)
    case .cardFault: throw SimulatorError("fault: this one is only for --pcsc")
    case .model: throw SimulatorError("model: only with --pcsc")
    case .noFaults: await reader.clearFaults()
    case .unplug: await reader.unplug()
    case .plug:
      try await reader.plug()
      return "ok \(await reader.terminalPath)"
    case .counters(let resets):
      let text = Self.describe(await reader.counters, fieldIsOn: await reader.isFieldOn)
      if resets { await reader.resetCounters() }
      return "ok \(text)"
    case .wait(let count):
      let target = await reader.counters.commands + count
      try await reader.wait { $0.counters.commands >= target }
    case .help: return "ok \(ControlCommand.summary)"
    case .quit: break
    }
    return "ok"
  }

  private static func describe(_ counters: Counters, fieldIsOn: Bool) -> String {
    let (seconds, attoseconds) = counters.fieldOnTime.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    return "commands=\(counters.commands) exchanges=\(counters.exchanges) "
      + "activation-frames=\(counters.activationFrames) received=\(counters.bytesReceived) sent=\(counters.bytesSent) "
      + "field=\(fieldIsOn ? "on" : "off") field-on-ms=\(milliseconds)"
  }
}
