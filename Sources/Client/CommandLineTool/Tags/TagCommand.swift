import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient

/// A command that works on the tags of a reader session.
struct TagCommand: Sendable {
  /// The operation on a tag. It writes the command's output.
  typealias Work = @Sendable (ReaderTag, TagOutput) async throws(Failure) -> Void

  let options: ReaderSessionOptions
  /// The reader as the user names it; nil for any that is ready.
  let reader: String?
  /// How many seconds to wait for a tag; nil for the daemon's limit of a session.
  let timeout: Int?
  let isFollowing: Bool
  /// How many tags to work on, one after the other; nil for one, or for no limit while following.
  let count: Int?
  let output: TagOutput
  let work: Work

  static let readerOption = Command.Option(
    "reader", "READER", "use this reader: its number, name or device, as tagroute status shows them")
  /// The options of each command that waits for a tag.
  static let options = [
    readerOption,
    Command.Option(
      "timeout", "SECONDS", "wait this long for a tag, 1 to 3600; the default is the session's 60 seconds"),
  ]
  /// For the commands that change a tag.
  static let severalHelp = """
    If several tags lie on the reader, the command changes none and ends with 75.
    """
  static let exitHelp = """
    Exit codes: 1 failed; 69 the daemon or the reader is gone; 75 try again: no tag
    came, it was taken away too soon, several tags lie there, or the reader is in
    use; 77 not allowed, or the tag is read-only or protected.
    """

  init(
    _ options: ReaderSessionOptions, _ arguments: Arguments, _ console: Console, isFollowing: Bool = false,
    count: Int? = nil, work: @escaping Work
  ) throws(Failure) {
    self.options = options
    self.isFollowing = isFollowing || count != nil
    self.count = count
    self.work = work
    output = TagOutput(console)
    reader = arguments.options["reader"]
    timeout = try arguments.number("timeout", in: 1...3600)
  }

  private typealias Run = TagRun<ReaderTag>

  /// Runs a session until the operation is done. Returns 0. A signal ends the process when the session has ended.
  func run() async throws(Failure) -> Int32 {
    let loop = EventLoop(label: "tagroute")
    let (events, continuation) = AsyncStream.makeStream(of: Run.Event.self)
    let signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP])
    let tasks = TagTasks(command: self, loop: loop, events: continuation)
    let listening = Task { for await signal in signals { continuation.yield(.interrupted(signal)) } }
    let timer = timeout.map { loop.schedule(after: .seconds($0)) { continuation.yield(.timeIsUp) } }
    var settling: LoopTimer?
    defer {
      settling?.cancel()
      listening.cancel()
      timer?.cancel()
    }
    let line = StatusLine()
    var run = Run(isFollowing: isFollowing, timeout: timeout, count: count, mayChange: options.access == .write)
    await tasks.start()
    for await event in events {
      for action in run.handle(event) {
        switch action {
        case .start: await tasks.start()
        case .startAgain: await tasks.startAgain()
        case .show(let text): line.show(text)
        case .hide: line.hide()
        case .work(let tag): tasks.work(tag)
        case .print: try await output.flush()
        case .report(let failure): Console.report(failure)
        case .forget(let tag): loop.schedule(after: .seconds(1)) { continuation.yield(.forgotten(tag)) }
        case .settle: settling = loop.schedule(after: .seconds(3)) { continuation.yield(.settled) }
        case .close(let message): await tasks.close(message)
        case .finish(.done): return 0
        case .finish(.failed(let failure)): throw failure
        case .finish(.signalled(let signal)): ProcessEnd.die(of: signal)
        }
      }
    }
    return Names.ExitCode.failure
  }
}

/// The asynchronous work of a command. Each task ends with an event.
private actor TagTasks {
  private let command: TagCommand
  private nonisolated let loop: EventLoop
  private nonisolated let events: AsyncStream<TagRun<ReaderTag>.Event>.Continuation
  private var connection: Connection?
  private var session: ReaderSession?
  private var choice: ReaderChoice?

  init(command: TagCommand, loop: EventLoop, events: AsyncStream<TagRun<ReaderTag>.Event>.Continuation) {
    self.command = command
    choice = command.reader.map(ReaderChoice.init)
    self.loop = loop
    self.events = events
  }

  func start() {
    Task {
      do throws(Failure) {
        await began(try await open())
      } catch {
        events.yield(.notBegun(error))
      }
    }
  }

  private func began(_ session: ReaderSession) async {
    self.session = session
    events.yield(.began(reportsRounds: await reportsRounds()))
    await follow(session)
  }

  /// Whether the daemon reports the end of a round. A daemon of interface version 1 does not.
  ///
  /// Asked after the session has started. If another daemon replies, or none, this session is over, and the answer does
  /// not matter.
  private func reportsRounds() async -> Bool {
    guard command.options.access == .write, !command.isFollowing, let connection else { return true }
    guard let status = try? await DaemonClient(connection).status() else { return true }
    return status.interfaceVersion >= 2
  }

  /// How long a daemon may take to restart and find a reader, for example during an update.
  private static let openingTimeout = Duration.seconds(30)

  func startAgain() {
    session = nil
    let opening = Task { await openAgain() }
    let timer = loop.schedule(after: Self.openingTimeout) { opening.cancel() }
    Task {
      let result = await opening.value
      timer.cancel()
      switch result {
      case .success(let session): await began(session)
      case .failure(let failure): events.yield(.notBegun(failure))
      }
    }
  }

  private func openAgain() async -> Result<ReaderSession, Failure> {
    var problem = Failure(message: "the daemon stopped", exitCode: Names.ExitCode.unavailable)
    guard let connection, let changes = try? await DaemonClient(connection).changes() else { return .failure(problem) }
    for await _ in changes {
      do throws(Failure) {
        return .success(try await open())
      } catch {
        if Task.isCancelled { break }
        problem = error
        // There is no daemon or no reader yet. Try again after the next change.
        guard [Names.ExitCode.unavailable, Names.ExitCode.tryAgain].contains(error.exitCode) else { break }
      }
    }
    return .failure(problem)
  }

  private func open() async throws(Failure) -> ReaderSession {
    let connection = try await connect()
    var options = command.options
    if choice != nil {
      let readers = try await ReaderChoice.readers(connection)
      options.reader = try choice?.choose(among: readers)
    }
    let asked = options
    return try await Failure.asking(.daemon) { () throws(BusError) in
      try await ReaderSession.start(asked, on: connection)
    }
  }

  private func connect() async throws(Failure) -> Connection {
    if let connection { return connection }
    let loop = loop
    let connection = try await Failure.connecting(to: .daemon) { () throws(BusError) in
      try await Connection.open(.system, on: loop)
    }
    self.connection = connection
    return connection
  }

  private func follow(_ session: ReaderSession) async {
    for await event in session.events {
      switch event {
      case .activated: events.yield(.activated)
      case .tagDetected(let tag):
        // Each tag without a UID is treated as another one.
        let id = tag.uid.isEmpty ? tag.path.string : Hexadecimal.text(tag.uid)
        events.yield(.detected(tag, name: "\(tag.technology) \(id)"))
      case .tagRemoved(let tag): events.yield(.removed(tag))
      case .progress(let bytes, of: _): events.yield(.progress(bytes))
      case .ended(let end): events.yield(.ended(end))
      case .roundEnded: events.yield(.roundEnded)
      case .pollingRestarted, .messageRead: break
      }
    }
  }

  nonisolated func work(_ tag: ReaderTag) {
    let (work, output) = (command.work, command.output)
    Task { [events] in
      do throws(Failure) {
        try await work(tag, output)
        events.yield(.worked(nil))
      } catch {
        events.yield(.worked(error))
      }
    }
  }

  func close(_ message: String?) {
    let session = session
    Task { [events] in
      try? await session?.invalidate(errorMessage: message.map(Console.forSheet))
      events.yield(.closed)
    }
  }
}

/// The output of a command, buffered until the status line is hidden.
actor TagOutput {
  private let console: Console
  private var pending = ""

  init(_ console: Console) { self.console = console }

  /// Like `Console.answer`.
  func answer(
    _ value: some Encodable & Sendable, _ lines: [String], onOneLine: Bool = false
  ) throws(Failure) {
    if console.json { try object(value, onOneLine: onOneLine) } else { self.lines(lines) }
  }

  /// Like `Console.lines`.
  func lines(_ texts: [String]) { pending += Console.text(texts) }

  /// Like `Console.object`.
  func object(_ value: some Encodable & Sendable, onOneLine: Bool = false) throws(Failure) {
    pending += try console.text(value, onOneLine: onOneLine)
  }

  func flush() throws(Failure) {
    let text = pending
    pending = ""
    try Console.write(text)
  }
}

/// A status line on standard error that the next one replaces. Not shown if standard error is not a terminal.
struct StatusLine: Sendable {
  private let isShown = isatty(STDERR_FILENO) == 1

  func show(_ text: String) {
    // Carriage return, and erase to the end of the line (ECMA-48, 8.3.41).
    if isShown { Console.tell("\r\u{1B}[K\(Console.printable(text)) … ") }
  }

  func hide() {
    if isShown { Console.tell("\r\u{1B}[K") }
  }
}

extension Console {
  /// A text in the form that the daemon accepts for a sheet: without control characters, at most 256 bytes. A valid
  /// text of at most 253 bytes is unchanged.
  static func forSheet(_ text: String) -> String {
    var result = ""
    for character in printable(text) {
      guard result.utf8.count + character.utf8.count <= 253 else { return result + "…" }
      result.append(character)
    }
    return result
  }
}
