import Bus
import Doctor
import EventLoop
import Glibc
import Names
import Settings
import TagrouteClient

extension Failure {
  init(_ error: BusError, from service: RunningProgram) {
    switch error.name {
    case BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner:
      self.init(
        message: "the \(service.role) is not running: \(Setup.current.starting(service).text)",
        exitCode: Names.ExitCode.unavailable)
    case _ where error.isUnanswered:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.unavailable)
    // The program has another version. Members of the first version are never removed.
    case BusError.Name.unknownMethod, BusError.Name.unknownInterface, BusError.Name.unknownProperty:
      self.init(
        message: "\(service.program) has another version than this tagroute (\(Names.version)) and does not support "
          + "this (\(error.message)): \(Setup.current.restarting(service).text)",
        exitCode: Names.ExitCode.unavailable)
    case BusError.Name.notSupported:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.unavailable)
    case BusError.Name.accessDenied, Names.Errors.notAuthorized:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.notAllowed)
    case Names.Errors.tooMany, Names.Errors.notPossible:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.tryAgain)
    case Names.Errors.noSuchTap:
      self.init(message: "\(error.message); tagroute inbox lists the taps", exitCode: Names.ExitCode.noInput)
    case Names.Errors.invalidArgument, BusError.Name.invalidArguments:
      self.init(message: error.message, exitCode: Names.ExitCode.usage)
    default:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.failure)
    }
  }

  /// Calls a program. Its error becomes the command's failure.
  static func asking<Result>(
    _ service: RunningProgram, _ body: () async throws(BusError) -> Result
  ) async throws(Failure) -> Result {
    do throws(BusError) {
      return try await body()
    } catch {
      let isAbsent = [BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner].contains(error.name)
      if service == .agent, isAbsent, let failure = await Failure.atStation(hasBus: true) { throw failure }
      throw Failure(error, from: service)
    }
  }

  /// Names the command for the agent of the station; nil if this machine is none, or has an agent for this user.
  fileprivate static func atStation(hasBus: Bool) async -> Failure? {
    guard let client = try? await DaemonClient.connect(on: EventLoop(label: "tagroute")),
      let status = try? await client.status(timeout: .seconds(2)), !status.stationUser.isEmpty,
      status.stationActive || getuid() == 0
    else { return nil }
    let user = status.stationUser
    let isOwn = hasBus && getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } == user
    let command = CommandLine.arguments.dropFirst().map(ShellWord.quoted).joined(separator: " ")
    return Failure(
      message: isOwn
        ? "the station's agent is not running: \(Diagnosis.startingStation(user).text)"
        : "the station's agent, with its inbox, belongs to user \(user): \(Diagnosis.asStation(user, command))",
      exitCode: Names.ExitCode.unavailable)
  }

  /// Connects. Any error means that there is no bus.
  static func connecting<Client>(
    to service: RunningProgram, _ connect: () async throws(BusError) -> Client
  ) async throws(Failure) -> Client {
    do throws(BusError) {
      return try await connect()
    } catch {
      throw Failure(
        message: "cannot reach the \(service.owner == .system ? "system" : "session") bus: \(error.message)",
        exitCode: Names.ExitCode.unavailable)
    }
  }
}

extension AgentClient {
  /// Connects to the agent of this session.
  static func own() async throws(Failure) -> AgentClient {
    do throws(Failure) {
      return try await Failure.connecting(to: .agent) { () async throws(BusError) in
        try await AgentClient.connect(on: EventLoop(label: "tagroute"))
      }
    } catch {
      throw await Failure.atStation(hasBus: false) ?? error
    }
  }
}

extension DaemonClient {
  /// Connects to the daemon of this machine.
  static func own(on loop: EventLoop = EventLoop(label: "tagroute")) async throws(Failure) -> DaemonClient {
    try await Failure.connecting(to: .daemon) { () async throws(BusError) in
      try await DaemonClient.connect(on: loop)
    }
  }
}

extension BusError {
  /// Whether a program did not reply: it ended, took too long, or the bus connection was lost.
  var isUnanswered: Bool { [Name.noReply, Name.timeout, Name.disconnected].contains(name) }
}

extension RunningProgram {
  fileprivate var role: String {
    switch self {
    case .daemon: "daemon"
    case .agent: "agent"
    case .mqtt: rawValue
    }
  }
}

extension Failure {
  init(tag error: BusError) {
    guard let failure = TagFailure(error) else {
      switch error.name {
      // The daemon ended during the operation. It usually restarts, so a retry may work.
      case BusError.Name.noReply, BusError.Name.nameHasNoOwner, BusError.Name.serviceUnknown,
        BusError.Name.disconnected:
        self.init(message: Self.endedWhileWorking, exitCode: Names.ExitCode.tryAgain)
      default: self.init(error, from: .daemon)
      }
      return
    }
    let code =
      switch failure {
      case .tagLost, .timedOut, .busy, .sessionEnded: Names.ExitCode.tryAgain
      case .readOnly, .refused, .notAuthorized: Names.ExitCode.notAllowed
      case .readerLost: Names.ExitCode.unavailable
      case .noMessage, .tooLong, .notSupported, .notFormatted, .notAsWritten, .cannotLock: Names.ExitCode.failure
      }
    // Many messages begin with “the tag”, or with another subject.
    let subject = error.message.hasPrefix("the ") ? "" : "the tag: "
    let advice =
      failure == .notFormatted
      ? ". To format it and write on it: \(Self.formatting(Array(CommandLine.arguments.dropFirst())))" : ""
    self.init(
      message: subject + error.message + advice, exitCode: code, sheet: SheetMessages.words(for: failure))
  }

  /// The command that formats a blank tag: that of the user with `--format`. `words` are without the program's name.
  static func formatting(_ words: [String]) -> String {
    guard let index = words.firstIndex(of: Command.write.name) else { return "tagroute write --format" }
    let words = ["tagroute"] + words[...index] + ["--format"] + words[(index + 1)...]
    return words.map(ShellWord.quoted).joined(separator: " ")
  }

  private static let endedWhileWorking =
    "the daemon ended while it worked on the tag. A tag that was being written may be empty now: try again"

  /// Describes a session that ended early, maybe during an operation on a tag.
  init(_ end: ReaderSessionEnd, whileWorking isWorking: Bool = false) {
    let (text, code) =
      switch end.reason {
      case .timedOut where isWorking:
        (
          "the time was up during the work on the tag. A tag that was being written may be empty now: try again",
          Names.ExitCode.tryAgain
        )
      case .timedOut: ("no tag came in time: try again", Names.ExitCode.tryAgain)
      case .cancelled: ("it was cancelled", Names.ExitCode.failure)
      case .readerLost: ("the reader is gone, or was given to another program", Names.ExitCode.unavailable)
      case .sessionInactive: ("your session is no longer active, or is locked", Names.ExitCode.notAllowed)
      case .sleeping: ("the machine is going to sleep", Names.ExitCode.tryAgain)
      case .daemonStopping where isWorking, .daemonGone where isWorking:
        (Self.endedWhileWorking, Names.ExitCode.tryAgain)
      case .daemonStopping, .daemonGone: ("the daemon stopped", Names.ExitCode.unavailable)
      case .invalidated, .firstRead: ("the session is over", Names.ExitCode.failure)
      }
    self.init(message: "the reader session ended: \(text)", exitCode: code)
  }
}

extension ReaderTag {
  /// Performs an operation on the tag. Its error becomes the command's failure.
  func attempt<Result>(
    _ body: (ReaderTag) async throws(BusError) -> Result
  ) async throws(Failure) -> Result {
    do throws(BusError) {
      return try await body(self)
    } catch {
      throw Failure(tag: error)
    }
  }
}
