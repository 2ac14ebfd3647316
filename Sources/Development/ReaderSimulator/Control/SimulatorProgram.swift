import EventLoop
import Glibc

/// The program `tagroute-simulator`.
package enum SimulatorProgram {
  private static let failure: Int32 = 1
  /// EX_USAGE of sysexits.h.
  private static let usage: Int32 = 64

  /// Runs until `quit`, SIGTERM or SIGINT. The program also ends when a standard input ends from which more commands could
  /// have come: a terminal, a pipe or a socket. Returns the exit code. `arguments` excludes the program's name.
  package static func main(_ arguments: [String]) async -> Int32 {
    ProcessEnvironment.silenceDispatch()
    signal(SIGPIPE, SIG_IGN)
    let options: SimulatorArguments
    do throws(SimulatorError) { options = try SimulatorArguments(arguments) } catch {
      return complain(error, usage)
    }
    let console = ControlChannel(input: FileDescriptor(owning: 0), output: FileDescriptor(owning: 1))
    if options.wantsHelp {
      console.write(SimulatorArguments.usage)
      return 0
    }
    do throws(SimulatorError) {
      try await run(options, console)
      return 0
    } catch {
      return complain(error, failure)
    }
  }

  private static func run(_ options: SimulatorArguments, _ console: ControlChannel) async throws(SimulatorError) {
    let signals = ProcessSignals([SIGTERM, SIGINT])
    if options.servesPCSC {
      let simulation = try await CardSimulation.start(options.models)
      let session = CardControlSession(readers: simulation.readers)
      do throws(SimulatorError) {
        for tap in options.taps { _ = try await session.tap(tap) }
        console.write("ready \(simulation.socket)")
        await converse(session, console, signals)
      } catch {
        await simulation.stop()
        throw error
      }
      await simulation.stop()
    } else {
      let reader = try await SimulatedReader.start(timing: options.timing, link: options.link)
      let session = ControlSession(reader: reader)
      for tap in options.taps { _ = try await session.tap(tap) }
      console.write("ready \(await reader.terminalPath)")
      await converse(session, console, signals)
      await reader.stop()
    }
  }

  /// Answers control lines until `quit`, a signal, or the end of a conversation.
  private static func converse(
    _ session: any CommandPerformer, _ console: ControlChannel, _ signals: ProcessSignals
  ) async {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let endsWithInput = isConversation(console.input)
    Task {
      let quits = (try? await console.serve(session)) ?? false
      if quits || endsWithInput { end.yield() }
    }
    Task {
      for await _ in signals { end.yield() }
    }
    for await _ in ends { break }
  }

  private static func isConversation(_ input: FileDescriptor) -> Bool {
    var status = stat()
    guard fstat(input.rawValue, &status) == 0 else { return false }
    let kind = status.st_mode & S_IFMT
    return isatty(input.rawValue) == 1 || kind == S_IFIFO || kind == S_IFSOCK
  }

  private static func complain(_ error: SimulatorError, _ code: Int32) -> Int32 {
    let text = Array("tagroute-simulator: \(error)\n".utf8)
    _ = write(2, text, text.count)
    return code
  }
}
