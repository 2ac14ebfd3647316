import EventLoop
import Glibc
import Names

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
      return complain("\(error); see tagroute-simulator --help", usage)
    }
    let console = ControlChannel(input: FileDescriptor(owning: 0), output: FileDescriptor(owning: 1))
    if let text = options.text {
      console.write(text)
      return 0
    }
    do throws(SimulatorError) {
      try await run(options, console)
      return 0
    } catch {
      return complain("\(error)", failure)
    }
  }

  private static func run(_ options: SimulatorArguments, _ console: ControlChannel) async throws(SimulatorError) {
    let signals = ProcessSignals([SIGTERM, SIGINT])
    let recording = try options.recording()
    if options.servesPCSC || recording?.isOfPCSC == true {
      let simulation = try await CardSimulation.start(options.models, recording, options.timing)
      let session = CardControlSession(readers: simulation.readers)
      do throws(SimulatorError) {
        for tap in options.taps { _ = try await session.tap(tap) }
        console.write("ready \(simulation.socket)")
        await simulation.replay(recording)
        await converse(session, console, signals)
      } catch {
        await simulation.stop()
        throw error
      }
      await simulation.stop()
    } else {
      let reader = try await SimulatedReader.start(
        timing: options.timing, link: options.link, recording: recording)
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
    Task { for await _ in signals { end.yield() } }
    for await _ in ends { break }
  }

  private static func isConversation(_ input: FileDescriptor) -> Bool {
    var status = stat()
    guard fstat(input.rawValue, &status) == 0 else { return false }
    let kind = status.st_mode & S_IFMT
    return isatty(input.rawValue) == 1 || kind == S_IFIFO || kind == S_IFSOCK
  }

  private static func complain(_ mistake: String, _ code: Int32) -> Int32 {
    let text = Array("tagroute-simulator: \(mistake)\n".utf8)
    _ = write(2, text, text.count)
    return code
  }
}

/// The command line of `tagroute-simulator`.
struct SimulatorArguments: Equatable {
  var link: String?
  var timing = TimingModel.immediate
  var taps: [ControlCommand.Tap] = []
  /// Whether to serve PC/SC readers instead of a PN532.
  var servesPCSC = false
  var models: [CardReaderModel] = []
  /// The file of the trace whose reader answers.
  var replayed: String?
  /// What to print instead of simulating a reader: the help or the version.
  var text: String?

  static let usage = """
    usage: tagroute-simulator [--link PATH] [--timing fast|real] [--tap URI]
           tagroute-simulator --pcsc [--model NAME]… [--timing fast|real] [--tap URI]
           tagroute-simulator --replay FILE [--link PATH] [--timing fast|real] [--tap URI]
           tagroute-simulator demo [OPTION]…

    A PN532 reader on a pseudo-terminal, for libnfc to open as pn532_uart:PATH. Prints "ready PATH" first. Or PC/SC
    readers behind a pcscd of their own. Prints "ready SOCKET" first, for PCSCLITE_CSOCK_NAME. With a trace, the one or
    the other answers as the recorded reader did.

      --link PATH        also make PATH a symbolic link to the pseudo-terminal
      --timing fast|real answer at once (the default), or as fast as the line and the field allow;
                         with --pcsc, see a card at once, or when an acr122u looks for cards
      --tap URI          begin with a tag that holds this URI
      --pcsc             start a pcscd with simulated readers
      --model NAME       a reader of this model (repeatable; acr1252u without it):
                         \(CardReaderModel.all.map(\.name).joined(separator: ", "))
      --replay FILE      repeat this trace, of a reader of libnfc or of pcscd
      --help             print this help
      --version          print the version

    Commands, one a line, each answered by a line "ok …" or "error what: why":
      \(ControlCommand.summary)
    """

  /// The error names the mistake.
  init(_ arguments: [String]) throws(SimulatorError) {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--help", "-h": text = Self.usage
      case "--version": text = "tagroute-simulator \(Names.version)"
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
      case "--replay": replayed = try Self.value(of: option, &rest)
      case "--tap":
        var tap = try ControlCommand.tap([try Self.value(of: option, &rest)])
        tap.isAdditional = true
        taps.append(tap)
      default: throw SimulatorError("\(option): no such option")
      }
    }
    guard replayed == nil || !servesPCSC && models.isEmpty else {
      throw SimulatorError("--replay: not with --pcsc or --model, because the trace tells the reader")
    }
    guard servesPCSC || models.isEmpty else { throw SimulatorError("--model: only with --pcsc") }
    guard !servesPCSC || link == nil else { throw SimulatorError("--pcsc: not with --link") }
    if servesPCSC && models.isEmpty { models = [.acr1252U] }
  }

  /// The trace; nil if there is none. The error names the file and the line.
  func recording() throws(SimulatorError) -> TraceReplay? {
    guard let replayed else { return nil }
    let file = try SimulatorFile.read(replayed, atMost: TraceReplay.mostBytes)
    let recording: TraceReplay
    do throws(TraceError) {
      recording = try TraceReplay(file, repeatsTimes: timing != .immediate)
    } catch {
      throw SimulatorError("\(replayed): \(error)")
    }
    guard !recording.isOfPCSC || link == nil else { throw SimulatorError("--link: the trace is of a reader of pcscd") }
    return recording
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(SimulatorError) -> String {
    guard let value = rest.popFirst() else { throw SimulatorError("\(option): its value is missing") }
    return value
  }
}

/// Virtual readers and their pcscd, in a separate directory.
struct CardSimulation {
  let readers: SimulatedCardReaders
  var socket: String { daemon.socket }
  private let daemon: PrivatePCSCD
  private let directory: String

  /// Adds a reader of each model, or the recorded one, and starts pcscd.
  static func start(
    _ models: [CardReaderModel], _ recording: TraceReplay?, _ timing: TimingModel
  ) async throws(SimulatorError) -> CardSimulation {
    let models = recording.map { [.recorded(as: $0.readerName ?? unnamed)] } ?? models
    let directory = try makeDirectory()
    do throws(SimulatorError) {
      let readers = try await SimulatedCardReaders.start(socket: "\(directory)/readers", timing: timing)
      for model in models { await readers.addReader(model) }
      let daemon = try await readers.startPCSCD(in: directory)
      return CardSimulation(readers: readers, daemon: daemon, directory: directory)
    } catch {
      removeDirectory(directory)
      throw error
    }
  }

  /// Lets the recorded reader answer.
  func replay(_ recording: TraceReplay?) async {
    guard let recording, let slot = await readers.attachedReaders.first?.slot else { return }
    await readers.replay(recording, in: slot)
  }

  /// Says that the reader has an antenna.
  private static let unnamed = "Recorded Contactless Reader"

  /// Ends pcscd and removes the directory.
  func stop() async {
    await daemon.stop()
    await readers.stop()
    Self.removeDirectory(directory)
  }

  private static func makeDirectory() throws(SimulatorError) -> String {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = "\(parent)/tagroute-simulator.XXXXXX".utf8CString.map { $0 }
    guard mkdtemp(&template) != nil else {
      throw SimulatorError(SystemError("make a directory in \(parent)").description)
    }
    let path = String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    // Clients of other users may go through to pcscd's socket.
    chmod(path, 0o711)
    return path
  }

  private static func removeDirectory(_ path: String) {
    for name in ["readers", "pcscd.comm", "pcscd.log", "reader.conf.d/readers"] { unlink("\(path)/\(name)") }
    rmdir("\(path)/reader.conf.d")
    rmdir(path)
  }
}
