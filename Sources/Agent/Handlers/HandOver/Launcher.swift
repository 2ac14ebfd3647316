package import Bus
package import EventLoop
import Glibc
package import NDEF
import Names
package import Routing
package import UniversalLinks

/// Hands a tap over to an application.
///
/// A handler gets the whole NDEF message, over D-Bus (`org.tagroute.Handler1`) or on its standard input, and the data
/// about the tag. A default application gets only the URI, or a file with a record. The launcher never passes text to a
/// shell.
package actor Launcher {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop

  /// For a user's click, or for a tap that a rule opens without one.
  package struct Click: Sendable, Hashable {
    /// Of xdg-activation, if the desktop provided one.
    package var activationToken: String?
    /// A UUID.
    package var tapID: String?
    /// Only an app that gets the message gets it.
    package var tag: TagRead?
    /// Without a click, only a limited number of programs is started.
    package var isByUser: Bool

    /// Omits an invalid token.
    package init(
      activationToken: String? = nil, tapID: String? = nil, tag: TagRead? = nil, isByUser: Bool = true
    ) {
      // The token becomes an environment variable of a started program. It need not come from the notification client:
      // any program on the bus may name one.
      self.activationToken = activationToken.flatMap { Names.Handler.isActivationToken($0) ? $0 : nil }
      self.tapID = tapID
      self.tag = tag
      self.isByUser = isByUser
    }
  }

  private let connection: Connection?
  private let timeout: Duration
  private let limit: Duration
  private let settling: Duration
  private let environment: [String: String]
  private let report: @Sendable (String) -> Void
  private let reaper: ChildReaper
  private let files: RecordFiles
  private var isPlaying = false
  private var commands = RunningCommands()

  /// Without a session bus, applications with D-Bus activation are started from their `Exec`.
  ///
  /// A hand-over waits for `timeout` until an application starts and replies. An answer later than `limit` is ignored.
  /// The hand-over to a rule's program waits for `settling`, because most programs that fail do so at once.
  /// `environment` is that of started programs, without the variables that concern only this process. `report` gets a
  /// line for the log if systemd refuses the scope of a started program. A file with a record is removed after
  /// `fileLifetime`.
  package init(
    connection: Connection?, timeout: Duration = .seconds(25), limit: Duration = .seconds(300),
    settling: Duration = .milliseconds(500), fileLifetime: Duration = .seconds(600),
    environment: [String: String] = ProcessEnvironment.current, on loop: EventLoop,
    report: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.connection = connection
    self.timeout = timeout
    self.limit = limit
    self.settling = settling
    self.environment = environment
    self.report = report
    self.loop = loop
    reaper = ChildReaper(on: loop)
    files = RecordFiles(environment: environment, lifetime: fileLifetime, on: loop)
  }

  /// Opens a record of a message without a link. A handler gets the whole message, another application a
  /// file with the record's payload.
  package func open(
    _ application: Application, _ record: TypedRecord, of read: TagRead, whole: Bool, click: Click = Click()
  ) async -> HandOver {
    if whole { return await open(application, .message(read.bytes, nil), click) }
    guard let payload = read.message.flatMap({ record.payload(in: $0) }) else {
      return HandOver(outcome: .failed(HandOverFailure(.nowhere, "the message has no such record any more")))
    }
    let path: String
    do throws(HandOverFailure) { path = try await files.write(payload, ofType: record.type.description) } catch {
      return HandOver(outcome: .failed(error))
    }
    return await open(application, .file(path), click)
  }

  /// Removes the files that killed processes have left, as soon as their lifetime has passed.
  package func removeLeftFiles() async { await files.removeLeft() }

  /// Call this before the process ends.
  package func removeFiles() async { await files.removeAll() }

  /// Without the encoded NDEF message, the application gets only the URI. Returns the outcome as soon as it is known,
  /// within the launcher's timeout.
  package func open(
    _ application: Application, _ uri: URI, message: [UInt8]?, click: Click = Click()
  ) async -> HandOver {
    let contents: HandOverContents = if let message { .message(message, uri) } else { .link(uri) }
    return await open(application, contents, click)
  }

  private func open(_ application: Application, _ contents: HandOverContents, _ click: Click) async -> HandOver {
    let task = Task { await handOver(to: application, contents, click: click) }
    return await PendingAnswer(task, on: loop).handOver(within: timeout)
  }

  /// Waits as long as for a new hand-over. Returns the final outcome, or `unanswered` with the same answer.
  package func wait(for answer: PendingAnswer) async -> HandOver { await answer.handOver(within: timeout) }

  private func handOver(
    to application: Application, _ contents: HandOverContents, click: Click
  ) async -> HandOverOutcome {
    if application.isDBusActivatable, let connection {
      if let change = await change(in: application) { return .failed(change) }
      let call = BusHandOver(connection: connection, timeout: limit, application: application)
      if let outcome = await call.deliver(contents, click: click) { return outcome }
    }
    return await start(application, contents, click: click)
  }

  /// Its entry is no longer the one that was offered.
  private func change(in application: Application) async -> HandOverFailure? {
    do throws(SystemError) {
      let hand = ExecHandOver(application: application, environment: environment)
      return try await DedicatedThread.run { hand.change() }
    } catch {
      return HandOverFailure(error)
    }
  }

  /// Puts a plain text without U+0000 on the clipboard. Returns `failed` if no clipboard program is installed, or if it
  /// did not take the text.
  package func copy(_ text: String) async -> HandOverOutcome {
    let environment = childEnvironment(Click())
    do throws(SystemError) {
      return try await DedicatedThread.run {
        Clipboard(environment: environment)?.copy(text, environment: environment)
          ?? .failed(HandOverFailure(.noClipboard))
      }
    } catch {
      return .failed(HandOverFailure(error))
    }
  }

  /// Plays a sound of the desktop's theme, and returns when it has ended. `sound` is a name of the Sound Naming
  /// Specification. Does nothing while another sound is played, without `canberra-gtk-play`, or without a display.
  package func play(_ sound: String) async {
    guard !isPlaying else { return }
    isPlaying = true
    defer { isPlaying = false }
    let environment = childEnvironment(Click())
    try? await DedicatedThread.run {
      SoundProgram(environment: environment)?.play(sound, environment: environment) ?? ()
    }
  }

  /// Waits until every started program has exited and was reaped.
  func allEnded() async { await reaper.allEnded() }

  /// Runs the program of a rule, with the encoded NDEF message on its standard input. Fails if too many programs of
  /// rules still run, or if the program cannot be started.
  ///
  /// If the program ends within a moment, the outcome is final. Otherwise the outcome is `delivered`, and the answer
  /// comes when the program ends.
  package func run(_ command: TapCommand, message: [UInt8], click: Click = Click()) async -> HandOver {
    let owner = RunningCommands.Owner.rule(command.rule)
    func failed(_ failure: HandOverFailure) -> HandOver { HandOver(outcome: .failed(failure)) }
    if let obstacle = commands.begin(owner) {
      return failed(HandOverFailure(.tooManyPrograms, "\(command.file):\(command.line): \(obstacle)"))
    }
    let environment = command.environment(childEnvironment(click, tag: click.tag), tapID: click.tapID)
    let result: Result<pid_t, HandOverFailure>
    do throws(SystemError) {
      result = try await DedicatedThread.run { command.start(message, environment: environment) }
    } catch {
      commands.end(owner)
      return failed(HandOverFailure(error))
    }
    switch result {
    case .success(let child):
      let (ends, end) = AsyncStream.makeStream(of: ProgramEnd.self)
      await adopt(child, of: command.application) { [weak self] in
        self?.ended(owner)
        end.yield($0)
        end.finish()
      }
      let task = Task { command.outcome(of: await ends.first { _ in true } ?? .unknown) }
      let handOver = await PendingAnswer(task, on: loop).handOver(within: settling)
      return handOver.answer.map { HandOver(outcome: .delivered, answer: $0) } ?? handOver
    case .failure(let failure):
      commands.end(owner)
      return failed(failure)
    }
  }

  /// For any thread.
  private nonisolated func ended(_ owner: RunningCommands.Owner) {
    loop.execute { [weak self] in self?.assumeIsolated { $0.commands.end(owner) } }
  }

  /// Tells an application that has got a tap over D-Bus that the tap's tag was removed. The application may not have
  /// the method, or may have ended, so an error has no effect.
  package func reportRemoval(to application: Application, click: Click) async {
    guard let connection, application.isDBusActivatable else { return }
    try? await BusHandOver(connection: connection, timeout: timeout, application: application).reportRemoval(click)
  }

  /// Without a click, fails if too many such programs still run.
  private func start(
    _ application: Application, _ contents: HandOverContents, click: Click
  ) async -> HandOverOutcome {
    var end: @Sendable () -> Void = {}
    if !click.isByUser {
      let owner = RunningCommands.Owner.application(application.desktopID)
      if let obstacle = commands.begin(owner) {
        return .failed(HandOverFailure(.tooManyPrograms, "\(application.file): \(obstacle)"))
      }
      end = { [weak self] in self?.ended(owner) }
    }
    let environment = childEnvironment(click, tag: contents.wholeMessage == nil ? nil : click.tag)
    let result: Result<pid_t, HandOverFailure>
    do throws(SystemError) {
      result = try await DedicatedThread.run {
        ExecHandOver(application: application, environment: environment).start(contents)
      }
    } catch {
      end()
      return .failed(HandOverFailure(error))
    }
    switch result {
    case .success(let child):
      await adopt(child, of: application) { [end] _ in end() }
      return .delivered
    case .failure(let failure):
      end()
      return .failed(failure)
    }
  }

  /// Has the child reaped, and moved into its systemd scope. The application already has its input, so the caller does
  /// not wait for systemd.
  private func adopt(
    _ child: pid_t, of application: Application, atEnd end: @escaping @Sendable (ProgramEnd) -> Void
  ) async {
    guard let connection else { return await reaper.adopt(child, atEnd: end) }
    let scope = ApplicationScope(application: application, child: child)
    await reaper.adopt(child, atEnd: end) { [report] in
      do throws(BusError) {
        try await scope.start(on: connection)
      } catch  where error.name == BusError.Name.serviceUnknown || error.name == BusError.Name.nameHasNoOwner {
        // The session has no systemd, so there are no units. The program leads a new session anyway.
      } catch {
        report("\(application.id) has no scope of its own: systemd said \(error.name)")
      }
    }
  }

  /// Whether a variable concerns only this process:
  /// - systemd sets it for a service (systemd.exec(5), "Environment Variables Set or Propagated by the Service
  ///   Manager").
  /// - The bus sets it for a program that it starts.
  /// - It belongs to the click or the tag that started us.
  /// - Our tests use it to redirect paths.
  ///
  /// `JOURNAL_STREAM` is passed on, because the program shares our standard output.
  private static func isOurs(_ name: String) -> Bool {
    name.hasPrefix("LISTEN_") || name.hasPrefix("DBUS_STARTER_") || ourVariables.contains(name)
      || Names.Handler.Variable.all.contains(name)
  }

  private static let ourVariables: Set<String> = [
    "CREDENTIALS_DIRECTORY", "DESKTOP_STARTUP_ID", "FDSTORE", "INVOCATION_ID", "MANAGERPID", "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "TAGROUTE_DEV", "TAGROUTE_LOCALE", "TAGROUTE_LOG",
    "TAGROUTE_PROC", "TAGROUTE_RUN", "TAGROUTE_SYS", "TAGROUTE_TAP_ID", "TAGROUTE_URI", "WATCHDOG_PID",
    "WATCHDOG_USEC", "XDG_ACTIVATION_TOKEN",
  ]

  /// Without the variables that concern only this process. With the activation token and the data about the tag if
  /// there are any.
  private func childEnvironment(_ click: Click, tag: TagRead? = nil) -> [String: String] {
    var result = environment
    for name in result.keys where Self.isOurs(name) { result[name] = nil }
    if let token = click.activationToken {
      result["XDG_ACTIVATION_TOKEN"] = token
      result["DESKTOP_STARTUP_ID"] = token
    }
    if let tag { result.merge(tag.environment) { $1 } }
    return result
  }
}
